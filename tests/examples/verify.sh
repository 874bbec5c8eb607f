# verify SECRET BODY-FILE WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE X-WEBHOOK-SIGNATURE
verify() (
    LC_ALL=C
    [ "$1" ] || return 1
    case $4 in '' | 0* | *[!0-9]* | ????????????*) return 1 ;; esac
    age=$(($(date +%s) - $4))
    [ "$age" -le 300 ] && [ "$age" -ge -300 ] || return 1
    key=$(printf %s "$1" | to_hex)
    same "$(sign "$key" <"$2" | to_hex)" "$6" || return 1
    case $1 in whsec_*) rest=${1#whsec_} ;; *) rest= ;; esac
    while [ "$rest" != "${rest%=}" ]; do rest=${rest%=}; done
    # The length of base64 is not 4n + 1.
    case $((${#rest} % 4))$rest in 0 | 1* | *[!A-Za-z0-9+/]*) ;; *)
        while [ $((${#rest} % 4)) -ne 0 ]; do rest=$rest=; done
        key=$(printf %s "$rest" | openssl base64 -d -A | to_hex)
        ;;
    esac
    own=v1,$({ printf '%s.%s.' "$3" "$4" && cat "$2"; } | sign "$key" | openssl base64 -A)
    set -f
    for one in $5; do same "$own" "$one" && return 0; done
    return 1
)
to_hex() { od -An -v -tx1 | tr -d ' \n'; }
sign() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }
# Compares under a key of the moment, so that the time it takes tells nothing.
same() {
    moment=$(openssl rand -hex 32)
    left=$(printf %s "$1" | sign "$moment" | to_hex) right=$(printf %s "$2" | sign "$moment" | to_hex)
    [ ${#left} -eq 64 ] && [ "$left" = "$right" ]
}
