//! Italian.

use super::Words;

pub(super) const ITALIAN: Words = Words {
    code: "codice, codici",
    one_time: "tuo codice, suo codice, password temporanea, password monouso, password usa e getta, codice di \
        verifica, codice otp",
    other: "ordine*, numero d'ordine, fattura*, codice fiscale, codice postale, codice di tracciamento, codice \
        cliente, codice prenotazione, codice a barre, codice errore, cap, p.iva, partita iva, tracking, \
        spedizion*, prenotazione*, numero verde, telefono, importo*, riferimento*, pratica, appuntamento, \
        riunione, biglietto, termina con, terminante con",
    promotion: "codice sconto, codice promozionale, sconto*, buono*, coupon, promozion*, offerta*, regalo",
    verify: "verific*, conferm*, attiv*, convalid*, autentic*, autorizz*",
    sign_in: "accedi*, accedere, accesso, entra, entrare, login, link magico",
    reset: "reimpost*, nuova password, password dimenticata, recuper*, cambia password, ripristin*, cambia la \
        password",
    invite: "invit*, unisciti, partecipa*, accetta invito",
    unsubscribe: "disiscri*, annulla iscrizione, annulla l'iscrizione, cancella iscrizione, cancellati, \
        cancellarti",
    caution: "scade*, valido*, valida*, non condividere, non comunicare, ignora*, minuti, sicurezza, monouso",
    denial: "non hai richiesto, non sei stato, non riconosci",
    enter: "inserisci*, digita, immetti",
    press: "qui, clicca*, questo link, link seguente, seguente link, continua, inizia, premi, sì",
};
