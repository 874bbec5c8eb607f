//! Dutch.

use super::Words;

pub(super) const DUTCH: Words = Words {
    code: "*code",
    one_time: "je code, uw code, jouw code, eenmalig wachtwoord, tijdelijk wachtwoord, verificatiecode, \
        inlogcode, eenmalige code",
    other: "bestelling*, bestelnummer*, *factuur, factuurnummer*, klantnummer*, postcode*, zending*, pakket*, \
        trackingcode, ordernummer*, referentie*, tel, telefoon*, bedrag*, kvk, btw*, *straat, boeking*, \
        boekingscode, foutcode, qr-code, streepjescode, afspraak, broncode, dossiernummer*, eindigend op, \
        eindigt op",
    promotion: "korting*, kortingscode, actiecode, cadeau*, cadeaucode, tegoed*, vouchercode",
    verify: "bevestig*, verifi*, activeer*, activer*, valideer*, goedkeur*",
    sign_in: "inlog*, log in, aanmeld*, inloggen, ingelogd",
    reset: "wachtwoord reset*, herstel*, nieuw wachtwoord, wachtwoord vergeten, wachtwoord wijzigen, wachtwoord \
        opnieuw, resetten",
    invite: "uitnodig*, uitgenodigd, deelnemen, word lid",
    unsubscribe: "uitschrijv*, afmelden, schrijf je uit, meld je af, uitschrijf*",
    caution: "geldig*, verloopt, deel deze, deel niet, negeer*, minuten, eenmalig*, veilig*",
    denial: "niet aangevraagd, niet jij, niet door jou",
    enter: "voer, vul, typ, toets",
    press: "hier, klik*, deze link, onderstaande link, doorgaan, ga verder, aan de slag, ja",
};
