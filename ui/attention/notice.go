package attention

import (
	"strings"
	"time"
	"unicode"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Notice is an alert as it is sent: a webhook's body, or a program's stdin. It holds
// nothing of buyers.
type Notice struct {
	Kind        account.AlertKind `json:"kind"`
	Cause       string            `json:"cause,omitempty"`
	Text        string            `json:"text"`             // one sentence
	Intent      api.ID            `json:"intent,omitempty"` // that it is about
	Since       time.Time         `json:"since,omitzero"`
	Due         time.Time         `json:"due,omitzero"` // when what it warns of happens
	Environment string            `json:"environment"`
	Live        bool              `json:"live"` // real money may move
	Account     string            `json:"account,omitempty"`
	Test        bool              `json:"test,omitempty"` // it is a sample

	alert account.Alert
}

// NoticeOf makes a notice of an alert. Times in its text are in where.
func NoticeOf(a account.Alert, from api.Environment, host string, where *time.Location) Notice {
	text := string(api.Scrub(a.Text))
	if due := a.Due; !due.IsZero() {
		if a.Kind == account.AlertDay {
			due = due.Add(time.Minute - 1) // rounded up: it is back by then
		}
		text += " by " + due.In(where).Format("15:04 MST, Jan 2")
	}
	return Notice{Kind: a.Kind, Cause: string(api.Scrub(a.Cause)), Text: text, Intent: api.ScrubID(string(a.Intent)), Since: a.Since.UTC(), Due: a.Due.UTC(),
		Environment: string(api.Scrub(from.Name)), Live: from.Live, Account: string(api.Scrub(host)), alert: a}
}

// Sample is the notice that a test sends.
func Sample(from api.Environment, host string, now time.Time) Notice {
	n := NoticeOf(account.Alert{Kind: account.AlertExpiring, Text: "A sample from tillwatch: nothing expires", Intent: "ci_sample", Since: now}, from, host, time.Local)
	n.Test = true
	return n
}

// fill inserts the notice into a program's arguments. A remote value at the start of
// an argument begins with a letter or digit, so that the program reads it neither as
// an option nor as a file.
func (n Notice) fill(arguments []string) []string {
	filled := make([]string, len(arguments))
	for i, argument := range arguments {
		filled[i] = strings.NewReplacer("{kind}", tame(string(n.Kind), ""), "{id}", tame(string(n.Intent), ""), "{text}", tame(n.Text, string(n.Kind)+": ")).Replace(argument)
	}
	return filled
}

// tame prepends before to a text that does not begin with a letter or digit; if
// before is "", it drops the leading characters instead.
func tame(text, before string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	at := strings.IndexFunc(text, plain)
	switch {
	case at == 0:
		return text
	case before != "":
		return before + text
	case at < 0:
		return ""
	}
	return text[at:]
}
