//! Polish.

use super::Words;

pub(super) const POLISH: Words = Words {
    code: "kod, kodu, kodem, kody, pin",
    one_time: "twój kod, hasło jednorazowe, hasło tymczasowe, kod weryfikacyjny, kod sms, kod jednorazowy",
    other: "zamówieni*, numer zamówienia, faktur*, kod pocztowy, kod błędu, kod qr, kod kreskowy, kod śledzenia, \
        kod odbioru, numer klienta, numer, nr, przesyłk*, tel, infolini*, kwot*, ul, nip, regon, rezerwacj*, \
        paczk*, wizyt*, kończąc*",
    promotion: "kod rabatowy, rabat*, kod promocyjny, promocj*, kupon*, bon, zniżk*",
    verify: "weryfik*, zweryfik*, potwierd*, potwierdź*, aktyw*, autoryz*, uwierzyteln*",
    sign_in: "logowani*, zaloguj*, zalogować, loguj*",
    reset: "zresetuj*, resetowani*, reset hasła, nowe hasło, odzyskiwani*, odzyskaj*, zmień hasło, zmiana hasła, \
        ustaw hasło, przywróć hasło",
    invite: "zapros*, zaprasz*, dołącz*, zaproszeni*",
    unsubscribe: "wypisz*, rezygn*, anuluj subskrypcj*, wyrejestruj*, wypisać",
    caution: "ważny*, wygas*, nie udostępniaj*, nie podawaj*, zignoruj*, minut*, jednorazow*, przelew*, \
        bezpieczeństw*",
    denial: "to nie ty, nie prosiłeś, nie prosiłaś",
    enter: "wpisz*, podaj*, wprowadź",
    press: "tutaj, kliknij*, ten link, poniższy link, link, dalej, przejdź, tak",
};
