package tempmail

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

func post(t *testing.T, path string, form url.Values) *http.Response {
	t.Helper()
	answer, err := http.PostForm(os.Getenv("APP_URL")+path, form)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer
}

func signUp(t *testing.T, inbox *Inbox) {
	post(t, "/sign-up", url.Values{"email": {inbox.Address}})
	form := url.Values{"email": {inbox.Address}, "code": {inbox.WaitForCode()}}
	if answer := post(t, "/confirm", form); answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}

func TestSignUp(t *testing.T) { signUp(t, NewInbox(t)) }

func TestSignUpInPrivate(t *testing.T) { signUp(t, NewPrivateInbox(t)) }

func TestWelcome(t *testing.T) {
	inbox := NewInbox(t)
	post(t, "/sign-up", url.Values{"email": {inbox.Address}})
	id := inbox.Wait(url.Values{"subject": {"welcome"}}).ID
	if listed := inbox.List(url.Values{"from": {"no-reply@"}}); len(listed) == 0 || listed[len(listed)-1].ID != id {
		t.Fatal(listed)
	}
	if mail := inbox.Read(id); !strings.Contains(mail.BodyText, "founded") {
		t.Fatal(mail)
	}
	if link := inbox.WaitForLink(); link != "https://app.test/verify?token=8f2a3c4d5e6b" {
		t.Fatal(link)
	}
	if deleted := inbox.Delete(id); deleted != 1 {
		t.Fatal(deleted)
	}
}
