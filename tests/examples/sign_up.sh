#!/bin/sh
# Signs up with an address of its own, and confirms it with the code from the mail.
set -eu
addr=$(tempmail new)
curl -sSf --data-urlencode "email=$addr" "$APP_URL/sign-up"
code=$(tempmail wait "$addr" --code --timeout 60s)
curl -sSf --data-urlencode "email=$addr" --data-urlencode "code=$code" "$APP_URL/confirm"
