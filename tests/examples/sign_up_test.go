package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
)

// get reads the JSON of an answer with status 200.
func get(t *testing.T, path string, query url.Values, into any) {
	t.Helper()
	answer, err := http.Get(os.Getenv("TEMPMAIL_URL") + path + "?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func post(t *testing.T, path string, form url.Values) *http.Response {
	t.Helper()
	answer, err := http.PostForm(os.Getenv("APP_URL")+path, form)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer
}

func TestSignUp(t *testing.T) {
	var inbox struct{ Address string }
	get(t, "/api/addresses/random", nil, &inbox)
	post(t, "/sign-up", url.Values{"email": {inbox.Address}})

	var mail struct{ Codes []struct{ Code string } }
	get(t, "/api/mail/wait", url.Values{"to": {inbox.Address}, "timeout": {"60"}, "has": {"code"}}, &mail)
	form := url.Values{"email": {inbox.Address}, "code": {mail.Codes[0].Code}}
	if answer := post(t, "/confirm", form); answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}
