//! German.

use super::Words;

pub(super) const GERMAN: Words = Words {
    code: "*code, pin, bestätigungsnummer, zugangsnummer",
    one_time: "ihr code, dein code, *einmalpasswort, *einmalkennwort, einmalcode, smstan, mtan, pushtan, \
        chiptan, *sms-tan, anmeldecode",
    other: "bestellung*, bestellnummer*, rechnung*, rechnungsnummer*, kundennummer*, kunden-nr, auftrag*, \
        auftragsnummer*, sendung*, sendungsnummer*, vorgang*, vorgangsnummer*, ticketnummer*, postleitzahl*, \
        plz, bankleitzahl*, blz, tel, telefon*, rufnummer*, betrag*, gesamtbetrag*, buchung*, buchungscode, \
        buchungsnummer*, vertrag*, vertragsnummer*, mitgliedsnummer*, *straße, *strasse, hrb, steuernummer*, \
        ust*, iban, kontonummer*, zählernummer*, fehlercode, qr-code, strichcode, zimmer, termin*, az, \
        aktenzeichen, quellcode, lieferung*, abholcode*, nummer, nr, endet auf, endend auf, mit endung",
    promotion: "gutschein*, rabatt*, rabattcode, gutscheincode, aktionscode, einkaufswert, einlös*, werbe*, \
        geschenk*, freundschaftscode, empfehlungscode",
    verify: "bestätig*, verifizier*, aktivier*, freischalt*, authentifizier*, registrierung abschließen, \
        *freigabe, zwei-faktor*, newsletter-anmeldung, anmeldung zum newsletter",
    sign_in: "anmeld*, einlogg*, *login, anmeldelink, loggen",
    reset: "zurücksetz*, zurückzusetzen, neues passwort, passwort vergessen, passwort ändern, passwort neu*, \
        kennwort ändern, neues kennwort",
    invite: "einladung*, eingeladen, beitreten, einladung annehmen",
    unsubscribe: "abmelden von, newsletter abmelden, vom newsletter abmelden, abbestell*, austragen, \
        abmeldelink, keine e-mails mehr, hier abmelden, newsletter-abmeldung, abmeldung",
    caution: "gültig*, niemals weiter, nicht weiter, ignorier*, minuten, läuft ab, einmalig*, geheim*, \
        sicherheit*, anforder*",
    denial: "nicht angefordert, nicht sie, nicht du, das nicht, nicht von ihnen, nicht von dir",
    enter: "eingeben, geben sie, gib, tippen sie, tippe",
    press: "hier, klick*, diesen link, folgenden link, weiter, zum link, jetzt starten, los geht*, ja",
};
