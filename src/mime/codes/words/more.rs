//! Languages with a few phrases: Swedish, Norwegian and Danish, Finnish, Czech and Slovak, Hungarian, Romanian, Greek,
//! Ukrainian, Hebrew, Hindi, Thai, Vietnamese, Indonesian and Malay.

use super::Words;

pub(super) const MORE: Words = Words {
    code: "*kod, *koden, *kode, *koodi, *koodisi, kód, kódu, kódem, kódja, kódod, jelszó, cod, codul*, κωδικός, \
        κωδικό, коду, кодът, кодът ви, קוד, הקוד, कोड, รหัส, mã, کد, رمز",
    one_time: "engångskod*, engangskode*, vahvistuskoodi*, kertakäyttö*, ověřovací kód, overovací kód, \
        megerősítő kód*, ellenőrző kód*, cod de verificare, κωδικός μίας χρήσης, κωδικός επαλήθευσης, код \
        підтвердження, ओटीपी, โอทีพี, mã otp, mã xác*, kode verifikasi, kode otp, کد تایید, رمز یکبار",
    other: "beställning*, ordrenummer*, bestilling*, ordre*, faktura*, postnummer*, tilausnumero*, tilaus*, \
        postinumero*, lasku*, objednávk*, objednávka č, psč, čárový kód, rendelés*, irányítószám*, számla*, \
        comand*, cod poștal, cod postal, παραγγελί*, замовлення, поштовий індекс, הזמנה, מיקוד, ऑर्डर, पिन कोड, \
        คำสั่งซื้อ, รหัสไปรษณีย์, đơn hàng, mã đơn*, mã bưu*, mã vận đơn, pesanan, kode pos, nomor, no resi, \
        sporing*, spårning*",
    promotion: "rabattkod*, rabatkode*, rabattkode*, alennus*, alennuskoodi*, slevov*, slevový kód, kedvezmény*, \
        kuponkód*, reducer*, cod de reducere, έκπτωση*, знижк*, הנחה, छूट, ส่วนลด, giảm giá, mã giảm*, diskon, \
        kode promo, kode diskon",
    verify: "bekräft*, verifier*, verifiser*, bekreft*, aktivera*, aktiver*, vahvist*, ověř*, potvr*, \
        megerősít*, ellenőrz*, aktivál*, confirmă*, verificare, επαλήθευση*, επιβεβαί*, ενεργοποί*, підтверд*, \
        אימות, אשר, अतिप्रमाण, सत्यापन, सत्यापित, पुष्टि, ยืนยัน, xác minh, xác nhận, xác thực, kích hoạt, \
        verifikasi, konfirmasi, aktifkan, aktivasi, sahkan",
    sign_in: "ورود, logga in, inloggning*, logg inn, log ind, innlogging*, kirjaudu*, kirjautumis*, přihlá*, \
        prihlás*, bejelentkez*, autentificare, conectare, σύνδεση*, вхід, входу, увійти, כניסה, התחבר, लॉगिन, \
        साइन इन, เข้าสู่ระบบ, đăng nhập, masuk, log masuk",
    reset: "återställ*, tilbakestill*, nulstil*, nollaa*, palauta*, uusi salasana, obnov*, nové heslo, \
        resetovat*, visszaállít*, új jelszó, resetare, resetează*, parolă nouă, επαναφορά*, скинути, \
        відновлення, איפוס, रीसेट, รีเซ็ต, đặt lại, atur ulang, reset kata sandi",
    invite: "inbjud*, inviter*, invitert, kutsu*, pozvánk*, pozval*, meghív*, invitați*, invitat, πρόσκληση*, \
        запрош*, הוזמנת, आमंत्र*, คำเชิญ, lời mời, undang*, undangan",
    unsubscribe: "avregistrera*, avprenumerera*, avsluta prenumeration*, avmeld*, afmeld*, peruuta tilaus, peru \
        uutiskirje*, odhlásit*, odhlásiť*, leiratkoz*, dezabon*, διαγραφή*, відписатися*, הסרה, सदस्यता समाप्त, \
        ยกเลิกการรับ, ยกเลิกการสมัคร, hủy đăng ký, berhenti berlangganan",
    caution: "اعتبار, gäller, giltig*, gyldig*, gælder, minuter, minutter, dela inte, ikke del, del ikke, \
        voimassa, minuuttia, älä jaa, platí, platnost*, minut, nesdílejte*, érvényes*, perc*, ne ossza, \
        valabil*, minute, ισχύει*, λεπτά, діє, хвилин*, בתוקף, मिनट, साझा न, นาที, hiệu lực, phút, không chia \
        sẻ, berlaku, menit, jangan, engångs*, engangs*, kerta*",
    denial: "inte du, ikke deg, ikke dig, et pyytänyt",
    enter: "ange, skriv inn, indtast, syötä, zadejte, írja be, introduceți, εισάγετε, введіть, הזן, nhập, \
        masukkan",
    press: "här, klicka*, her, klikk*, klik*, tästä, napsauta*, zde, klikněte*, ide, kattints*, aici, apasă*, \
        εδώ, кліку*, тут, לחץ, क्लिक, คลิก, nhấn*, nhấp*, klik",
};
