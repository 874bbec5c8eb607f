//! The words that people look at around codes and links, by language.
//!
//! A phrase stands for whole words. `verif*` stands for every word that begins so, and `*code` for every word that ends
//! so. Scripts without blanks between words, such as Chinese, have no such bounds: there a phrase is found anywhere, and
//! so it is in Korean and Arabic, whose particles are part of the word. At each place the longest phrase counts.

/// What a phrase says about a code or a link near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// A code, of whatever kind.
    Code,
    /// A code that is certainly a one-time code.
    OneTime,
    /// A number or name that is no code: of an order, a customer, a place.
    Other,
    /// Something to save money with.
    Promotion,
    Verify,
    SignIn,
    Reset,
    Invite,
    Unsubscribe,
    /// What is said about secrets: how long they are valid, and to keep them.
    Caution,
    /// What is written on a link that says nothing about its target.
    Press,
    /// Nothing. Such a phrase hides a shorter one in it.
    Nothing,
}

/// The phrases of one language.
pub(super) struct Words {
    code: &'static str,
    one_time: &'static str,
    other: &'static str,
    promotion: &'static str,
    verify: &'static str,
    sign_in: &'static str,
    reset: &'static str,
    invite: &'static str,
    unsubscribe: &'static str,
    caution: &'static str,
    press: &'static str,
}

const ENGLISH: Words = Words {
    code: "code, *passcode, pin, pass code, verification number, enter the following, enter this, copy this, paste \
        this, type this, paste the following, type the following",
    one_time: "your code, your pin, access code, otp, tan, one-time password, one time password, one-time pin, onetime password, temporary \
        password, one-time code, one time code, one-time passcode, verification code, 2fa code, mfa code, two-factor \
        code",
    other: "order, orders, order number, invoice*, receipt*, ticket*, case, reference, ref, tracking*, track, parcel, \
        shipment*, customer number, customer id, account number, account no, account ending, account id, ending, ends \
        with, policy, zip*, certificate*, meeting passcode, webinar passcode, zip code, postcode*, postal code, area \
        code, country code, error code, exit code, status code, sort code, bank code, dress code, qr code, source \
        code, hex code*, code editor, code review, pickup code, collection code, product code, school code, class \
        code, course code, store code, branch code, club code, customer code, client code, member code, tracking code, \
        booking*, booking code, reservation*, confirmation number, flight, seat, gate, room, table, tel, phone, call, \
        call us, fax, ext, extension, version, build, commit, issue, line, page, section, chapter, id, meeting id, \
        member number, number is, part number, serial*, model, sku, isbn, vat, tax*, amount, balance, total, price, \
        payment of, po box, street, suite, floor, building, station, document, envelope, request, requests, thread, \
        article, incident, event, job, post, policy no, entry number, volume, anti-phishing code, sim, imei, license*, \
        licence*, hex, color*, colour*, lesson, change, sync, meeting*, webinar*, call, appointment*, delivery, \
        attendance, rsvp, barcode, bar code, morse code, code of conduct, codebase, building code, tax code, swift \
        code, coding, ip",
    promotion: "friend code, with friends, with your friends, share your, promo*, coupon*, voucher*, discount code, \
        gift code, gift card*, gift card code, gift*, referral*, refer a friend, invite friends, invite a friend, \
        invite your friends, % off, at checkout, redeem*, cashback, offer code, discount*, invite code, invitation code",
    verify: "verif*, confirm*, activat*, validat*, authenticat*, authori*, approve, two-factor, two-step, 2-step, \
        complete your registration, complete registration, complete your sign-up, finish signing up, complete sign*, \
        opt in, subscribe me",
    sign_in: "sign in*, sign-in*, signin*, signing in, sign you in, log in*, log-in*, login*, logging in, log you in, \
        magic link*",
    reset: "reset*, password reset, new password, forgot*, change your password, change password, recover*, create a \
        new password, choose a new password, set a new password, set up a new password, unlock",
    invite: "invit*, accept invit*, join now, join, join team, accept",
    unsubscribe: "unsubscribe*, opt out, opt-out, optout, stop receiving, no longer wish, remove me, unsubscribing, \
        email preferences unsubscribe",
    caution: "access, pairing, pair, device, 2fa, mfa, expire*, valid for, valid until, is valid, not share, n't \
        share, never share, do not forward, don't forward, did not request, didn't request, didn't make this request, \
        did not make, ignore this, ignore the, minutes, never ask, one-time*, single use, single-use, temporary*, will \
        only be valid, works once, not you, wasn't you, was not you, be used once, only once, enter, paste, secure*, \
        security, unrecognized*, new ip, never tell, forward or give, not disclose, keep it secret, give this, use it \
        within, requested",
    press: "click here, here, this link, link, continue, get started, start, yes, go, tap here, open, proceed, press \
        here, click",
};

const GERMAN: Words = Words {
    code: "*code, pin, bestätigungsnummer, zugangsnummer",
    one_time: "ihr code, dein code, *einmalpasswort, *einmalkennwort, einmalcode, smstan, mtan, pushtan, chiptan, *sms-tan, anmeldecode",
    other: "bestellung*, bestellnummer*, rechnung*, rechnungsnummer*, kundennummer*, kunden-nr, auftrag*, \
        auftragsnummer*, sendung*, sendungsnummer*, vorgang*, vorgangsnummer*, ticketnummer*, postleitzahl*, plz, \
        bankleitzahl*, blz, tel, telefon*, rufnummer*, betrag*, gesamtbetrag*, buchung*, buchungscode, \
        buchungsnummer*, vertrag*, vertragsnummer*, mitgliedsnummer*, *straße, *strasse, hrb, steuernummer*, ust*, \
        iban, kontonummer*, zählernummer*, fehlercode, qr-code, strichcode, zimmer, termin*, az, aktenzeichen, \
        quellcode, lieferung*, abholcode*, nummer, nr",
    promotion: "gutschein*, rabatt*, rabattcode, gutscheincode, aktionscode, einkaufswert, einlös*, werbe*, \
        geschenk*, freundschaftscode, empfehlungscode",
    verify: "bestätig*, verifizier*, aktivier*, freischalt*, authentifizier*, registrierung abschließen, *freigabe, \
        zwei-faktor*",
    sign_in: "anmeld*, einlogg*, *login, anmeldelink, loggen",
    reset: "zurücksetz*, zurückzusetzen, neues passwort, passwort vergessen, passwort ändern, passwort neu*, kennwort \
        ändern, neues kennwort",
    invite: "einladung*, eingeladen, beitreten, einladung annehmen",
    unsubscribe: "abmelden von, newsletter abmelden, vom newsletter abmelden, abbestell*, austragen, abmeldelink, \
        keine e-mails mehr, hier abmelden, newsletter-abmeldung, abmeldung",
    caution: "gültig*, niemals weiter, nicht weiter, ignorier*, nicht angefordert, minuten, läuft ab, einmalig*, \
        geheim*, geben sie, gib diesen, eingeben, sicherheit*, anforder*",
    press: "hier, klick*, diesen link, folgenden link, weiter, zum link, jetzt starten, los geht*",
};

const SPANISH: Words = Words {
    code: "código*, codigo*, clave, token",
    one_time: "tu código, su código, clave dinámica, contraseña de un solo uso, contraseña temporal, código de verificación, código de un \
        solo uso, clave de un solo uso",
    other: "pedido*, número de pedido, factura*, referencia, código postal, código de seguimiento, código de error, \
        código qr, código de barras, código de reserva, seguimiento, número de cuenta, socio, teléfono*, tel, línea de \
        atención, importe*, monto*, total, reserva*, cliente, calle, nif, cif, nº, envío*, código fuente, cita, \
        reunión",
    promotion: "cupón*, descuento*, código promocional, código de descuento, promoción*, oferta*, regalo*, canje*",
    verify: "verific*, confirm*, activ*, valid*, autentic*, autoriza*",
    sign_in: "iniciar sesión, inicia sesión, inicio de sesión, acceder, accede, acceso, entrar, ingresar, ingresa a, \
        enlace mágico",
    reset: "restablec*, recuper*, nueva contraseña, cambiar contraseña, cambia tu contraseña, olvidaste, reestablec*",
    invite: "invita*, invitó, invitación*, te ha invitado, únete, unirte, aceptar invitación, unirse",
    unsubscribe: "darse de baja, date de baja, darme de baja, dar de baja, cancelar suscripción, cancelar la \
        suscripción, anular suscripción, baja, desuscrib*",
    caution: "caduca*, vence*, expira*, válido*, válida*, no lo compartas, no compartas, no solicitaste, ignora*, \
        minutos, introduce*, ingresa*, operación, un solo uso, seguridad",
    press: "aquí, haz clic, clic, pulsa, este enlace, siguiente enlace, el enlace, continuar, empezar, comenzar",
};

const FRENCH: Words = Words {
    code: "code",
    one_time: "votre code, ton code, mot de passe à usage unique, mot de passe temporaire, mot de passe provisoire, code à usage unique, \
        code de vérification",
    other: "commande*, n°, facture*, code postal, code barre*, code-barres, code de réservation, code erreur, code de \
        suivi, code source, suivi, référence*, client, numéro de client, réservation*, dossier, tél, téléphone, siret, \
        siren, rcs, tva, montant*, livraison*, colis, rue, cedex, compte n°, numéro de compte, rendez-vous, réunion, \
        billet",
    promotion: "code promo*, promo*, réduction*, remise*, bon d'achat, bon de réduction, code avantage, cadeau*, \
        parrainage, chèque-cadeau, soldes",
    verify: "vérifi*, verifi*, confirm*, activ*, valid*, authentifi*",
    sign_in: "connexion, connecter, connectez-vous, se connecter, me connecter, identification, lien magique, \
        identifier, accès, accéder",
    reset: "réinitialis*, nouveau mot de passe, mot de passe oublié, modifier mon mot de passe, changer de mot de \
        passe, changer votre mot de passe, récupér*",
    invite: "invit*, rejoindre, rejoignez, accepter l'invitation",
    unsubscribe: "désinscri*, désabonn*, se désinscrire, me désinscrire, ne plus recevoir",
    caution: "expire*, valable*, valide*, ne le partagez, ne partagez, ne communiquez, ignorez*, usage unique, \
        minutes, saisissez, entrez, à l'origine de cette demande, n'avez pas demandé, sécurité",
    press: "ici, cliquez, ce lien, lien suivant, lien ci-dessous, continuer, commencer, c'est parti",
};

const PORTUGUESE: Words = Words {
    code: "código*, codigo*",
    one_time: "seu código, teu código, senha temporária, senha de uso único, senha única, palavra-passe temporária, código de verificação",
    other: "pedido n*, pedido nº, número do pedido, encomenda*, fatura*, nota fiscal, código de barras, código de \
        rastreio, código de rastreamento, rastreio, cep, código postal, cpf, cnpj, telefone, protocolo, boleto*, \
        valor, referência, reserva*, conta nº, rua, consulta, reunião",
    promotion: "cupom, desconto*, código promocional, vale-presente, promoção*, oferta*",
    verify: "verific*, verifique, confirm*, ativ*, valid*, autentic*",
    sign_in: "acess*, entrar, fazer login, faça login, iniciar sessão, link mágico",
    reset: "redefin*, recuper*, nova senha, alterar senha, esqueceu, repor a palavra-passe, repor palavra-passe",
    invite: "convid*, convite*, participar, junte-se, entrar na equipe, aceitar convite",
    unsubscribe: "cancelar inscrição, cancelar a inscrição, cancelar subscrição, cancelar a subscrição, descadastr*, \
        remover inscrição, não quero receber",
    caution: "expira*, válido*, válida*, não compartilhe*, não partilhe*, ignore*, minutos, não solicitou, digite*, \
        insira*, introduza*, segurança",
    press: "aqui, clique*, este link, link abaixo, continuar, começar, seguinte link",
};

const ITALIAN: Words = Words {
    code: "codice, codici",
    one_time: "tuo codice, suo codice, password temporanea, password monouso, password usa e getta, codice di verifica, codice otp",
    other: "ordine*, numero d'ordine, fattura*, codice fiscale, codice postale, codice di tracciamento, codice \
        cliente, codice prenotazione, codice a barre, codice errore, cap, p.iva, partita iva, tracking, spedizion*, \
        prenotazione*, numero verde, telefono, importo*, riferimento*, pratica, appuntamento, riunione, biglietto",
    promotion: "codice sconto, codice promozionale, sconto*, buono*, coupon, promozion*, offerta*, regalo",
    verify: "verific*, conferm*, attiv*, convalid*, autentic*, autorizz*",
    sign_in: "accedi*, accedere, accesso, entra, entrare, login, link magico",
    reset: "reimpost*, nuova password, password dimenticata, recuper*, cambia password, ripristin*, cambia la \
        password",
    invite: "invit*, unisciti, partecipa*, accetta invito",
    unsubscribe: "disiscri*, annulla iscrizione, annulla l'iscrizione, cancella iscrizione, cancellati, cancellarti",
    caution: "scade*, valido*, valida*, non condividere, non comunicare, ignora*, minuti, inserisci*, non hai \
        richiesto, sicurezza, monouso",
    press: "qui, clicca*, questo link, link seguente, seguente link, continua, inizia, premi",
};

const DUTCH: Words = Words {
    code: "*code",
    one_time: "je code, uw code, jouw code, eenmalig wachtwoord, tijdelijk wachtwoord, verificatiecode, inlogcode, eenmalige code",
    other: "bestelling*, bestelnummer*, *factuur, factuurnummer*, klantnummer*, postcode*, zending*, pakket*, \
        trackingcode, ordernummer*, referentie*, tel, telefoon*, bedrag*, kvk, btw*, *straat, boeking*, boekingscode, \
        foutcode, qr-code, streepjescode, afspraak, broncode, dossiernummer*",
    promotion: "korting*, kortingscode, actiecode, cadeau*, cadeaucode, tegoed*, vouchercode",
    verify: "bevestig*, verifi*, activeer*, activer*, valideer*, goedkeur*",
    sign_in: "inlog*, log in, aanmeld*, inloggen, ingelogd",
    reset: "wachtwoord reset*, herstel*, nieuw wachtwoord, wachtwoord vergeten, wachtwoord wijzigen, wachtwoord \
        opnieuw, resetten",
    invite: "uitnodig*, uitgenodigd, deelnemen, word lid",
    unsubscribe: "uitschrijv*, afmelden, schrijf je uit, meld je af, uitschrijf*",
    caution: "geldig*, verloopt, deel deze, deel niet, negeer*, minuten, niet aangevraagd, eenmalig*, vul, voer, \
        veilig*",
    press: "hier, klik*, deze link, onderstaande link, doorgaan, ga verder, aan de slag",
};

const POLISH: Words = Words {
    code: "kod, kodu, kodem, kody, pin",
    one_time: "twój kod, hasło jednorazowe, hasło tymczasowe, kod weryfikacyjny, kod sms, kod jednorazowy",
    other: "zamówieni*, numer zamówienia, faktur*, kod pocztowy, kod błędu, kod qr, kod kreskowy, kod śledzenia, kod \
        odbioru, numer klienta, numer, nr, przesyłk*, tel, infolini*, kwot*, ul, nip, regon, rezerwacj*, paczk*, \
        wizyt*",
    promotion: "kod rabatowy, rabat*, kod promocyjny, promocj*, kupon*, bon, zniżk*",
    verify: "weryfik*, zweryfik*, potwierd*, potwierdź*, aktyw*, autoryz*, uwierzyteln*",
    sign_in: "logowani*, zaloguj*, zalogować, loguj*",
    reset: "zresetuj*, resetowani*, reset hasła, nowe hasło, odzyskiwani*, odzyskaj*, zmień hasło, zmiana hasła, \
        ustaw hasło, przywróć hasło",
    invite: "zapros*, zaprasz*, dołącz*, zaproszeni*",
    unsubscribe: "wypisz*, rezygn*, anuluj subskrypcj*, wyrejestruj*, wypisać",
    caution: "ważny*, wygas*, nie udostępniaj*, nie podawaj*, zignoruj*, minut*, jednorazow*, wpisz*, podaj*, \
        przelew*, bezpieczeństw*",
    press: "tutaj, kliknij*, ten link, poniższy link, link, dalej, przejdź",
};

const TURKISH: Words = Words {
    code: "kod, kodu, kodun*, kodunuz*, kodumuz, kodunu, şifreniz*, şifre, parola, *kodunuz, *kodu",
    one_time: "tek kullanımlık şifre*, tek kullanımlık parola*, tek kullanımlık kod*, doğrulama kodu*, onay kodu*",
    other: "sipariş*, sipariş numarası, fatura*, kargo*, kargo takip kodu, takip kodu, takip no, posta kodu, hata \
        kodu, müşteri no, müşteri numarası, müşteri hizmetleri, tel, telefon*, tutar*, rezervasyon*, referans*, cad, \
        sokak, numarası, qr kodu, randevu*, kaynak kodu, tc kimlik",
    promotion: "indirim*, indirim kodu, kupon*, kampanya*, hediye*, promosyon*",
    verify: "doğrula*, onayla*, onay, etkinleştir*, aktivasyon*, aktive, teyit*, üyeliğinizi tamam*",
    sign_in: "giriş*, oturum aç*, oturum açma",
    reset: "sıfırla*, yeni şifre, şifremi unuttum, yeni parola, şifre yenile*, şifrenizi değiştir*, parola yenile*",
    invite: "davet*, katıl*",
    unsubscribe: "abonelikten çık*, aboneliği iptal*, aboneliğimi iptal*, listeden çık*, üyelikten çık*",
    caution: "geçerli*, paylaşmayın*, paylaşma*, dakika*, yok say*, dikkate almayın*, siz değilseniz, talep \
        etmediyseniz, girin*, işlem*, güvenlik*, tek kullanımlık",
    press: "buraya, tıkla*, bu bağlantı*, aşağıdaki bağlantı*, bağlantıya, devam et, başla",
};

const RUSSIAN: Words = Words {
    code: "код, кода, кодом, коды, коде, пин-код, пароль для входа",
    one_time: "ваш код, твой код, одноразовый пароль, временный пароль, одноразовый код, код подтверждения",
    other: "заказ*, номер заказа, счет*, счёт*, накладн*, почтовый индекс, индекс, трек-код, трек-номер, код ошибки, \
        код товара, qr-код, штрих-код, код города, инн, огрн, кпп, тел, телефон*, сумма*, договор*, обращени*, заявк*, \
        бронь, бронирован*, ул, дом, билет*, исходный код, номер, посылк*, доставк*",
    promotion: "промокод*, скидк*, купон*, подарочн*, сертификат*, акци*",
    verify: "подтвер*, верифик*, активир*, активаци*, провер*",
    sign_in: "вход*, войти, войдите, авториз*",
    reset: "восстанов*, сброс*, сбросить*, новый пароль, смен* пароля, смена пароля, сменить пароль, забыли",
    invite: "приглаш*, пригласил*, присоедин*",
    unsubscribe: "отписаться*, отпис*, отказаться от рассылки",
    caution: "действу*, действителен*, никому*, не сообщайте*, не передавайте*, минут*, не запрашивали*, \
        проигнорируйте*, игнорируйте*, введите*, одноразов*, безопасност*, истека*",
    press: "здесь, нажмите*, по ссылке, ссылк*, перейдите*, перейти, продолжить, начать, сюда",
};

const JAPANESE: Words = Words {
    code: "コード, 確認番号, 暗証番号, 認証用番号",
    one_time: "認証番号, ワンタイムパスワード, ワンタイムパス, 仮パスワード, 認証キー, ワンタイムキー, 認証コード, 確認コード",
    other: "注文番号, ご注文, 郵便番号, 電話, お問い合わせ, お客様番号, 会員番号, 受付番号, 予約番号, 伝票番号, 追跡番号, 請求書, 合計, 金額, qrコード, バーコード, エラーコード, \
        商品コード, ソースコード, 口座番号, 管理番号, 整理番号, 支店コード, 機関コード",
    promotion: "クーポン, クーポンコード, 割引, 割引コード, ギフトコード, ギフト, プロモーションコード, 招待コード, ポイント",
    verify: "確認, 認証, 本人確認, 有効化, 登録を完了, 本登録, 承認",
    sign_in: "ログイン, サインイン",
    reset: "再設定, リセット, パスワードの変更, パスワードを変更, パスワードをお忘れ",
    invite: "招待, 参加する",
    unsubscribe: "配信停止, 配信解除, 購読解除, 購読を解除, 登録解除, 退会, メール停止, 配信の停止",
    caution: "有効期限, 有効です, 分以内, 分間, 教えないで, 入力, 心当たり, 共有しない, 第三者, セキュリティ, 一回限り",
    press: "こちら, クリック, 下記のurl, 以下のurl, 次のリンク, リンク, ボタン, 続ける, 始める",
};

const CHINESE: Words = Words {
    code: "代码, 代碼, 口令, 安全码, 安全碼, 随机码",
    one_time: "验证码, 驗證碼, 校验码, 校驗碼, 动态码, 動態碼, 动态密码, 動態密碼, 确认码, 確認碼, 激活码, 认证码, 認證碼, 登录码, 登入碼, 一次性密码, 一次性密碼, 验证代码, 驗證代碼, \
        授权码, 认证代码, 动态口令",
    other: "手机号, 手機, 订单, 订单号, 訂單, 訂單編號, 快递, 快递单号, 物流, 邮编, 郵遞區號, 邮政编码, 客服, 客服电话, 电话, 電話, 專線, 热线, 金额, 金額, 发票, 發票, 会员号, \
        會員編號, 流水号, 编号, 編號, 二维码, 条形码, 提货码, 取件码, 错误代码, 股票代码, 源代码, 银行账号, 银行帐号, 卡号, 尾号",
    promotion: "优惠码, 優惠碼, 优惠券, 優惠券, 折扣码, 折扣, 兑换码, 兌換碼, 邀请码, 红包, 礼品",
    verify: "验证, 驗證, 确认, 確認, 激活, 啟用, 启用, 认证, 認證, 绑定",
    sign_in: "登录, 登錄, 登入, 登陆",
    reset: "重置, 重設, 重设, 找回密码, 修改密码, 忘记密码, 忘記密碼, 新密码",
    invite: "邀请, 邀請, 加入",
    unsubscribe: "退订, 退訂, 取消订阅, 取消訂閱",
    caution: "有效, 分钟, 分鐘, 请勿泄露, 請勿, 请勿, 泄露, 洩漏, 勿将, 忽略, 本人操作, 输入, 輸入, 工作人员, 一次性, 过期, 安全",
    press: "点击, 點擊, 点此, 點此, 链接, 連結, 按钮, 按鈕, 这里, 這裡, 继续",
};

const KOREAN: Words = Words {
    code: "코드, 확인번호, 확인 번호, 승인번호",
    one_time: "인증번호, 인증 번호, 인증코드, 인증 코드, 확인 코드, 확인코드, 보안코드, 보안 코드, 일회용 비밀번호, 임시 비밀번호",
    other: "주문번호, 주문, 우편번호, 고객센터, 전화, 운송장, 송장번호, 예약번호, 사업자등록번호, 결제금액, 금액, 접수번호, 회원번호, 고객번호, qr코드, qr 코드, 바코드, 오류 코드, \
        오류코드, 계좌번호, 영수증, 소스 코드",
    promotion: "쿠폰, 할인, 쿠폰 코드, 쿠폰코드, 할인코드, 할인 코드, 추천인 코드, 초대 코드, 기프트, 프로모션",
    verify: "인증, 확인, 활성화, 승인",
    sign_in: "로그인, 접속",
    reset: "재설정, 초기화, 비밀번호 변경, 비밀번호 찾기, 새 비밀번호",
    invite: "초대, 참여하기, 수락",
    unsubscribe: "수신거부, 수신 거부, 구독 취소, 구독취소, 구독 해지, 수신 해지",
    caution: "유효, 이내, 분간, 입력, 공유하지, 타인, 요청하지, 무시, 알려주지, 보안, 만료",
    press: "클릭, 여기, 링크, 버튼, 눌러, 계속, 시작하기",
};

const ARABIC: Words = Words {
    code: "رمز, الرمز, كود, الكود",
    one_time: "كلمة مرور لمرة واحدة, كلمة المرور لمرة واحدة, لمرة واحدة, كلمة المرور المؤقتة, رقم التحقق, رمز التحقق, كود التحقق, رمز التأكيد",
    other: "رقم الطلب, الطلب, طلبك, الرمز البريدي, رمز بريدي, فاتورة, الفاتورة, المبلغ, رقم العميل, هاتف, الهاتف, رقم \
        التتبع, رمز التتبع, رقم الحجز, رقم الحساب, رمز الخطأ, ص.ب",
    promotion: "رمز الخصم, كود الخصم, خصم, قسيمة, كوبون, عرض خاص, هدية",
    verify: "تأكيد, تحقق, التحقق, تفعيل, توثيق, أكد",
    sign_in: "تسجيل الدخول, الدخول, دخول",
    reset: "إعادة تعيين, استعادة, تغيير كلمة, كلمة مرور جديدة, نسيت",
    invite: "دعوة, دعاك, انضم, الانضمام",
    unsubscribe: "إلغاء الاشتراك, الغاء الاشتراك",
    caution: "صالح, دقائق, دقيقة, لا تشارك, تشاركه, تجاهل, أدخل, تنتهي, صلاحية, استخدم",
    press: "اضغط, انقر, هنا, الرابط, متابعة, ابدأ",
};

/// Languages with a few phrases: Swedish, Norwegian and Danish, Finnish, Czech and Slovak, Hungarian, Romanian, Greek,
/// Ukrainian, Hebrew, Hindi, Thai, Vietnamese, Indonesian and Malay.
const MORE: Words = Words {
    code: "*kod, *koden, *kode, *koodi, *koodisi, kód, kódu, kódem, kódja, kódod, jelszó, cod, codul*, κωδικός, \
        κωδικό, коду, кодът, кодът ви, קוד, הקוד, कोड, รหัส, mã, کد, رمز",
    one_time: "engångskod*, engangskode*, vahvistuskoodi*, kertakäyttö*, ověřovací kód, overovací kód, megerősítő \
        kód*, ellenőrző kód*, cod de verificare, κωδικός μίας χρήσης, κωδικός επαλήθευσης, код підтвердження, ओटीपी, \
        โอทีพี, mã otp, mã xác*, kode verifikasi, kode otp, کد تایید, رمز یکبار",
    other: "beställning*, ordrenummer*, bestilling*, ordre*, faktura*, postnummer*, tilausnumero*, tilaus*, \
        postinumero*, lasku*, objednávk*, objednávka č, psč, čárový kód, rendelés*, irányítószám*, számla*, comand*, \
        cod poștal, cod postal, παραγγελί*, замовлення, поштовий індекс, הזמנה, מיקוד, ऑर्डर, पिन कोड, คำสั่งซื้อ, \
        รหัสไปรษณีย์, đơn hàng, mã đơn*, mã bưu*, mã vận đơn, pesanan, kode pos, nomor, no resi, sporing*, spårning*",
    promotion: "rabattkod*, rabatkode*, rabattkode*, alennus*, alennuskoodi*, slevov*, slevový kód, kedvezmény*, \
        kuponkód*, reducer*, cod de reducere, έκπτωση*, знижк*, הנחה, छूट, ส่วนลด, giảm giá, mã giảm*, diskon, kode \
        promo, kode diskon",
    verify: "bekräft*, verifier*, verifiser*, bekreft*, aktivera*, aktiver*, vahvist*, ověř*, potvr*, megerősít*, \
        ellenőrz*, aktivál*, confirmă*, verificare, επαλήθευση*, επιβεβαί*, ενεργοποί*, підтверд*, אימות, אשר, \
        अतिप्रमाण, सत्यापन, सत्यापित, पुष्टि, ยืนยัน, xác minh, xác nhận, xác thực, kích hoạt, verifikasi, konfirmasi, \
        aktifkan, aktivasi, sahkan",
    sign_in: "ورود, logga in, inloggning*, logg inn, log ind, innlogging*, kirjaudu*, kirjautumis*, přihlá*, \
        prihlás*, bejelentkez*, autentificare, conectare, σύνδεση*, вхід, входу, увійти, כניסה, התחבר, लॉगिन, साइन इन, \
        เข้าสู่ระบบ, đăng nhập, masuk, log masuk",
    reset: "återställ*, tilbakestill*, nulstil*, nollaa*, palauta*, uusi salasana, obnov*, nové heslo, resetovat*, \
        visszaállít*, új jelszó, resetare, resetează*, parolă nouă, επαναφορά*, скинути, відновлення, איפוס, रीसेट, \
        รีเซ็ต, đặt lại, atur ulang, reset kata sandi",
    invite: "inbjud*, inviter*, invitert, kutsu*, pozvánk*, pozval*, meghív*, invitați*, invitat, πρόσκληση*, \
        запрош*, הוזמנת, आमंत्र*, คำเชิญ, lời mời, undang*, undangan",
    unsubscribe: "avregistrera*, avprenumerera*, avsluta prenumeration*, avmeld*, afmeld*, peruuta tilaus, peru \
        uutiskirje*, odhlásit*, odhlásiť*, leiratkoz*, dezabon*, διαγραφή*, відписатися*, הסרה, सदस्यता समाप्त, \
        ยกเลิกการรับ, ยกเลิกการสมัคร, hủy đăng ký, berhenti berlangganan",
    caution: "اعتبار, gäller, giltig*, gyldig*, gælder, minuter, minutter, dela inte, ikke del, del ikke, voimassa, \
        minuuttia, älä jaa, platí, platnost*, minut, nesdílejte*, érvényes*, perc*, ne ossza, valabil*, minute, \
        ισχύει*, λεπτά, діє, хвилин*, בתוקף, मिनट, साझा न, นาที, hiệu lực, phút, không chia sẻ, berlaku, menit, \
        jangan, engångs*, engangs*, kerta*",
    press: "här, klicka*, her, klikk*, klik*, tästä, napsauta*, zde, klikněte*, ide, kattints*, aici, apasă*, εδώ, \
        кліку*, тут, לחץ, क्लिक, คลิก, nhấn*, nhấp*, klik",
};

pub(super) const LANGUAGES: [&Words; 15] = [
    &ENGLISH,
    &GERMAN,
    &SPANISH,
    &FRENCH,
    &PORTUGUESE,
    &ITALIAN,
    &DUTCH,
    &POLISH,
    &TURKISH,
    &RUSSIAN,
    &JAPANESE,
    &CHINESE,
    &KOREAN,
    &ARABIC,
    &MORE,
];

impl Words {
    /// The phrases, separated by commas.
    pub(super) fn by_sense(&self) -> [(Sense, &'static str); 11] {
        [
            (Sense::Code, self.code),
            (Sense::OneTime, self.one_time),
            (Sense::Other, self.other),
            (Sense::Promotion, self.promotion),
            (Sense::Verify, self.verify),
            (Sense::SignIn, self.sign_in),
            (Sense::Reset, self.reset),
            (Sense::Invite, self.invite),
            (Sense::Unsubscribe, self.unsubscribe),
            (Sense::Caution, self.caution),
            (Sense::Press, self.press),
        ]
    }
}
