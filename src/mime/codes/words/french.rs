//! French.

use super::Words;

pub(super) const FRENCH: Words = Words {
    code: "code",
    one_time: "votre code, ton code, mot de passe à usage unique, mot de passe temporaire, mot de passe \
        provisoire, code à usage unique, code de vérification",
    other: "commande*, n°, facture*, code postal, code barre*, code-barres, code de réservation, code erreur, \
        code de suivi, code source, suivi, référence*, client, numéro de client, réservation*, dossier, tél, \
        téléphone, siret, siren, rcs, tva, montant*, livraison*, colis, rue, cedex, compte n°, numéro de compte, \
        rendez-vous, réunion, billet, terminant par, termine par",
    promotion: "code promo*, promo*, réduction*, remise*, bon d'achat, bon de réduction, code avantage, cadeau*, \
        parrainage, chèque-cadeau, soldes",
    verify: "vérifi*, verifi*, confirm*, activ*, valid*, authentifi*",
    sign_in: "connexion, connecter, connectez-vous, se connecter, me connecter, identification, lien magique, \
        identifier, accès, accéder",
    reset: "réinitialis*, nouveau mot de passe, mot de passe oublié, modifier mon mot de passe, changer de mot \
        de passe, changer votre mot de passe, récupér*, oublié votre mot de passe, choisir un nouveau, changer \
        mon mot de passe, modifier votre mot de passe, choisissez-en un nouveau",
    invite: "invit*, rejoindre, rejoignez, accepter l'invitation",
    unsubscribe: "désinscri*, désabonn*, se désinscrire, me désinscrire, ne plus recevoir",
    caution: "expire*, valable*, valide*, ne le partagez, ne partagez, ne communiquez, ignorez*, usage unique, \
        minutes, sécurité",
    denial: "n'avez pas demandé, à l'origine de cette demande, pas vous, n'êtes pas à l'origine",
    enter: "saisissez, saisis, entrez, entre, tapez",
    press: "ici, cliquez, ce lien, lien suivant, lien ci-dessous, continuer, commencer, c'est parti, oui",
};
