package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var encoded = regexp.MustCompile("^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4})=*$")

// header is r.Header.Get of an http.Request; body is what came, not parsed.
func verify(secret string, header func(string) string, body []byte) bool {
	id, at := header("webhook-id"), header("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); secret == "" || err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	own := hex.EncodeToString(sum([]byte(secret), body))
	if !hmac.Equal([]byte(own), []byte(header("X-Webhook-Signature"))) {
		return false
	}
	key := []byte(secret)
	if found := encoded.FindStringSubmatch(secret); found != nil {
		key, _ = base64.RawStdEncoding.DecodeString(found[1])
	}
	own = "v1," + base64.StdEncoding.EncodeToString(sum(key, append([]byte(id+"."+at+"."), body...)))
	for _, one := range strings.Split(header("webhook-signature"), " ") {
		if hmac.Equal([]byte(own), []byte(one)) {
			return true
		}
	}
	return false
}

func sum(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)
}
