// Package tempmail has inboxes of tempmail for tests. Copy this file into a package of this name, and write:
//
//	func TestMain(m *testing.M) { os.Exit(tempmail.Run(m)) }
//
// Then tempmail.NewInbox(t) is a new one. The service is that of TEMPMAIL_URL, with a token or key in TEMPMAIL_TOKEN if it
// needs one. Without it one runs as long as the tests: TEMPMAIL_BIN, or tempmail in PATH. It takes mail at SMTP.
package tempmail

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// URL is where the service answers HTTP, SMTP where it takes mail (HOST:PORT, empty if nobody said).
var URL, SMTP = os.Getenv("TEMPMAIL_URL"), os.Getenv("TEMPMAIL_SMTP")
var ready = regexp.MustCompile(`"message":"ready".*"smtp":"([^",]+).*"http":"([^",]+)`)

// Run runs the tests beside a service, and returns their exit code.
func Run(m *testing.M) int {
	if URL != "" {
		return m.Run()
	}
	directory := must(os.MkdirTemp("", "tempmail-"))
	defer os.RemoveAll(directory)
	command := exec.Command(cmp.Or(os.Getenv("TEMPMAIL_BIN"), "tempmail"), "serve", "--dev", "--log-format", "json",
		"--smtp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--data-dir", directory+"/data")
	log := must(command.StderrPipe())
	must(0, command.Start())
	defer command.Wait()
	defer command.Process.Signal(os.Interrupt)
	said := ""
	for lines := bufio.NewScanner(log); lines.Scan(); said += lines.Text() + "\n" {
		if found := ready.FindStringSubmatch(lines.Text()); found != nil {
			SMTP, URL = found[1], "http://"+found[2]
			go io.Copy(io.Discard, log)
			return m.Run()
		}
	}
	panic("tempmail does not start: " + said)
}

// Inbox is the mail of one address. Its methods end the test if the service refuses.
type Inbox struct {
	Address, Key string
	t            testing.TB
}

// Mail is one mail. In a list the last three fields are empty.
type Mail struct {
	ID, From, Subject, ReceivedAt, BodyText string
	Codes                                   []struct{ Code, Kind string }
	Links                                   []struct{ URL, Kind, Text string }
}

// NewInbox makes an address.
func NewInbox(t testing.TB) *Inbox {
	inbox := &Inbox{Key: os.Getenv("TEMPMAIL_TOKEN"), t: t}
	inbox.Address = ask[Inbox](inbox, "GET", "/api/addresses/random", nil, "").Address
	return inbox
}

// NewPrivateInbox makes an address whose mail only its key and the administrator read. It ends with the test.
func NewPrivateInbox(t testing.TB) *Inbox {
	inbox := &Inbox{Key: os.Getenv("TEMPMAIL_TOKEN"), t: t}
	made := ask[Inbox](inbox, "POST", "/api/addresses", nil, `{"forSeconds": 3600}`)
	inbox.Address, inbox.Key = made.Address, cmp.Or(made.Key, inbox.Key)
	t.Cleanup(func() { ask[any](inbox, "DELETE", "/api/addresses", url.Values{"address": {inbox.Address}}, "") })
	return inbox
}

// Wait returns the oldest mail that passes the filters (subject, from, since, has) within `timeout` seconds, or 60.
func (inbox *Inbox) Wait(filters url.Values) Mail {
	inbox.t.Helper()
	mail := ask[Mail](inbox, "GET", "/api/mail/wait", inbox.to(filters), "")
	if mail.ID == "" {
		inbox.t.Fatal("no such mail for ", inbox.Address, filters)
	}
	return mail
}

// WaitForCode returns the best code of the oldest mail that has one.
func (inbox *Inbox) WaitForCode() string {
	return inbox.Wait(url.Values{"has": {"code"}}).Codes[0].Code
}

// WaitForLink returns the best link of the oldest mail that has one.
func (inbox *Inbox) WaitForLink() string { return inbox.Wait(url.Values{"has": {"link"}}).Links[0].URL }

// List returns the newest hundred mails that pass the filters, newest first.
func (inbox *Inbox) List(filters url.Values) []Mail {
	type page struct{ Emails []Mail }
	return ask[page](inbox, "GET", "/api/mail/messages", inbox.to(filters), "").Emails
}

// Read returns one mail.
func (inbox *Inbox) Read(id string) Mail {
	return ask[Mail](inbox, "GET", "/api/mail/messages/"+id, nil, "")
}

// Delete deletes one mail, or all of the address if the id is empty. It returns how many there were.
func (inbox *Inbox) Delete(id string) int {
	query := inbox.to(nil)
	if id != "" {
		query = url.Values{"id": {id}}
	}
	return ask[struct{ Deleted int }](inbox, "DELETE", "/api/mail/delete", query, "").Deleted
}

func (inbox *Inbox) to(filters url.Values) url.Values {
	query := url.Values{"to": {inbox.Address}, "timeout": {"60"}, "limit": {"100"}}
	maps.Copy(query, filters)
	return query
}

// ask reads the JSON of an answer, if it has some.
func ask[T any](inbox *Inbox, method, path string, query url.Values, body string) (into T) {
	inbox.t.Helper()
	request := must(http.NewRequest(method, URL+path+"?"+query.Encode(), strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	if inbox.Key != "" {
		request.Header.Set("Authorization", "Bearer "+inbox.Key)
	}
	answer := must(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	said := must(io.ReadAll(answer.Body))
	if answer.StatusCode >= 300 {
		inbox.t.Fatalf("%s %s: %s %s", method, path, answer.Status, said)
	}
	if len(said) > 0 {
		must(into, json.Unmarshal(said, &into))
	}
	return into
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
