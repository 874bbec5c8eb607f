//! Turkish.

use super::Words;

pub(super) const TURKISH: Words = Words {
    code: "kod, kodu, kodun*, kodunuz*, kodumuz, kodunu, şifreniz*, şifre, parola, *kodunuz, *kodu",
    one_time: "tek kullanımlık şifre*, tek kullanımlık parola*, tek kullanımlık kod*, doğrulama kodu*, onay \
        kodu*",
    other: "sipariş*, sipariş numarası, fatura*, kargo*, kargo takip kodu, takip kodu, takip no, posta kodu, \
        hata kodu, müşteri no, müşteri numarası, müşteri hizmetleri, tel, telefon*, tutar*, rezervasyon*, \
        referans*, cad, sokak, numarası, qr kodu, randevu*, kaynak kodu, tc kimlik, ile biten",
    promotion: "indirim*, indirim kodu, kupon*, kampanya*, hediye*, promosyon*",
    verify: "doğrula*, onayla*, onay, etkinleştir*, aktivasyon*, aktive, teyit*, üyeliğinizi tamam*",
    sign_in: "giriş*, oturum aç*, oturum açma",
    reset: "sıfırla*, yeni şifre, şifremi unuttum, yeni parola, şifre yenile*, şifrenizi değiştir*, parola \
        yenile*",
    invite: "davet*, katıl*",
    unsubscribe: "abonelikten çık*, aboneliği iptal*, aboneliğimi iptal*, listeden çık*, üyelikten çık*",
    caution: "geçerli*, paylaşmayın*, paylaşma*, dakika*, yok say*, dikkate almayın*, işlem*, güvenlik*, tek \
        kullanımlık",
    denial: "siz değilseniz, talep etmediyseniz",
    enter: "girin*, yazın",
    press: "buraya, tıkla*, bu bağlantı*, aşağıdaki bağlantı*, bağlantıya, devam et, başla",
};
