//! English.

use super::Words;

pub(super) const ENGLISH: Words = Words {
    code: "code, *passcode, pin, pass code, verification number, enter the following, enter this, copy this, \
        paste this, type this, paste the following, type the following, digits below, number below, security \
        number",
    one_time: "your code, your pin, access code, otp, tan, one-time password, one time password, one-time pin, \
        onetime password, temporary password, one-time code, one time code, one-time passcode, verification \
        code, 2fa code, mfa code, two-factor code",
    other: "order, orders, order number, invoice*, receipt*, ticket*, case, reference, ref, tracking*, track, \
        parcel, shipment*, customer number, customer id, account number, account no, account ending, account id, \
        ending, ends with, policy, zip*, certificate*, meeting passcode, webinar passcode, zip code, postcode*, \
        postal code, area code, country code, error code, exit code, status code, sort code, bank code, dress \
        code, qr code, source code, hex code*, code editor, code review, pickup code, collection code, product \
        code, school code, class code, course code, store code, branch code, club code, customer code, client \
        code, member code, tracking code, booking*, booking code, reservation*, confirmation number, flight, \
        seat, gate, room, table, tel, phone, call, call us, fax, ext, extension, version, build, commit, issue, \
        line, section, chapter, id, meeting id, member number, number is, part number, serial*, model, sku, \
        isbn, vat, tax*, amount, balance, total, price, payment of, po box, street, suite, floor, building, \
        station, document, envelope, request, requests, thread, article, incident, event, job, post, policy no, \
        entry number, volume, anti-phishing code, sim, imei, license*, licence*, hex, color*, colour*, lesson, \
        sync, meeting*, webinar*, call, appointment*, delivery, attendance, rsvp, barcode, bar code, morse code, \
        code of conduct, codebase, building code, tax code, swift code, coding, ip, ending in, account ending \
        in, account ending with, card ending in, ending with, ends in",
    promotion: "friend code, with friends, with your friends, share your, promo*, coupon*, voucher*, discount \
        code, gift code, gift card*, gift card code, gift*, referral*, refer a friend, invite friends, invite a \
        friend, invite your friends, % off, at checkout, redeem*, cashback, offer code, discount*, invite code, \
        invitation code",
    verify: "verif*, confirm*, activat*, validat*, authenticat*, authori*, approve, complete your registration, \
        complete registration, complete your sign-up, finish signing up, complete sign*, opt in, subscribe me",
    sign_in: "sign in*, sign-in*, signin*, signing in, sign you in, log in*, log-in*, login*, logging in, log \
        you in, magic link*",
    reset: "reset*, password reset, new password, forgot*, change your password, change password, recover*, \
        create a new password, choose a new password, set a new password, set up a new password, unlock, change \
        my password, change the password, changing your password",
    invite: "invit*, accept invit*, join now, join, join team, accept",
    unsubscribe: "unsubscribe*, opt out, opt-out, optout, stop receiving, no longer wish, remove me, \
        unsubscribing, email preferences unsubscribe",
    caution: "access, pairing, pair, device, 2fa, mfa, expire*, valid for, valid until, is valid, not share, n't \
        share, never share, do not forward, don't forward, ignore this, ignore the, minutes, never ask, \
        one-time*, single use, single-use, temporary*, will only be valid, works once, be used once, only once, \
        secure*, security, unrecognized*, new ip, never tell, forward or give, not disclose, keep it secret, \
        give this, use it within, requested, two-factor, two-step, two-factor authentication, 2-factor \
        authentication, 2-step",
    denial: "did not request, didn't request, didn't make this request, did not make, not you, not tried, not recently tried, haven't tried, wasn't you, was \
        not you, not attempting, don't recognize, do not recognize, don't recognise, do not recognise, didn't \
        try, weren't you",
    enter: "enter, enters, type, paste, key in",
    press: "click here, here, this link, link, continue, get started, start, yes, go, tap here, open, proceed, \
        press here, click, yes please",
};
