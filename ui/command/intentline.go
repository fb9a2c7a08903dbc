package command

import (
	"encoding/json"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// intentLine is an intent as it is now, with all that is known about it. Its JSON is a line of `intent --json`.
type intentLine struct {
	Environment string                `json:"environment"`
	Live        bool                  `json:"live"`
	Intent      *account.IntentDetail `json:"intent"`
	Shipments   []*account.Shipment   `json:"shipments,omitempty"`
	Requests    []api.Exchange        `json:"requests,omitempty"` // about it, as far as they are kept
	Buyer       *shownBuyer           `json:"buyer,omitempty"`    // only if personal data is shown
	Failure     *failureHelp          `json:"failure,omitempty"`

	Slow        bool                              `json:"slow,omitempty"`      // it has been in its state for longer than 95 % of this account's intents
	Stays       map[api.IntentState]time.Duration `json:"staysNs,omitempty"`   // in each past state
	HistoryRead bool                              `json:"events_told"`         // whether the relay's history is in the timeline
	Personal    bool                              `json:"personal_data_shown"` // the buyer's; payment tokens never are
	Program     string                            `json:"program"`             // the version of tillwatch
	MadeAt      time.Time                         `json:"made_at"`
	Body        json.RawMessage                   `json:"body,omitempty"` // the newest answer, masked

	service time.Time // when it was made, by the service's clock
}

// shownBuyer is a buyer that does not mask itself.
type shownBuyer api.Buyer

// failureHelp says what to do about a failure.
type failureHelp struct {
	Group  api.FailureGroup `json:"group"`
	Advice string           `json:"advice"`
}

// intentLine gathers what is known about an intent. historyRead is true if the relay's history
// is in its timeline.
func (s *session) intentLine(in *account.IntentDetail, reveal, historyRead bool, now time.Time) intentLine {
	where, sum := s.client.Environment(), s.store.Summary()
	l := intentLine{
		Environment: where.Name, Live: where.Live, Intent: in, Stays: in.Stays(), HistoryRead: historyRead, Personal: reveal, Program: version(), MadeAt: now.UTC(),
		service: now.Add(-sum.Ahead),
	}
	if pace, known := sum.Pace[in.State]; known && !in.State.Terminal() {
		l.Slow = pace.Slow(now.Sub(in.Since))
	}
	for _, id := range in.Shipments {
		if sh, known := s.store.Shipment(id); known {
			l.Shipments = append(l.Shipments, sh)
		}
	}
	for _, e := range s.store.RequestsAbout(append([]api.ID{in.ID}, in.Shipments...)...) {
		l.Requests = append(l.Requests, account.SharedRequest(e))
	}
	latest := l.latest()
	if reveal {
		l.Buyer = (*shownBuyer)(latest.Buyer)
	}
	if f := latest.Failure; f != nil {
		l.Failure = &failureHelp{f.Code.Group(), f.Code.Advice()}
	}
	if len(latest.Raw) > 0 && (reveal || !l.quotesBuyer()) {
		l.Body = api.Masked(latest.Raw)
	}
	return l
}

// latest is the newest answer; empty if there is none.
func (l *intentLine) latest() *api.Intent { return latestOf(l.Intent) }

func latestOf(in *account.IntentDetail) *api.Intent {
	if in.Latest == nil {
		return &api.Intent{}
	}
	return in.Latest
}

// quotesBuyer reports whether the failure's message quotes the buyer.
func (l *intentLine) quotesBuyer() bool {
	latest := l.latest()
	return latest.Failure != nil && latest.Buyer.QuotedIn(latest.Failure.Message)
}

// shown is the intent, masked as in a recording unless personal data is to be shown.
func (l *intentLine) shown() *account.IntentDetail {
	if l.Personal {
		return l.Intent
	}
	return l.Intent.Shared()
}

// message is why it failed, in the merchant's words.
func (l *intentLine) message() api.Text {
	if l.latest().Failure == nil {
		return ""
	}
	return l.shown().Latest.Failure.Message
}

// address is an address with its secrets masked unless they are to be shown.
func (l *intentLine) address(text api.Text) api.Text {
	if l.Personal {
		return text
	}
	return api.MaskAddress(text)
}

// MarshalJSON masks the line as a recording does, unless personal data is to be shown.
func (l intentLine) MarshalJSON() ([]byte, error) {
	type plain intentLine
	l.Intent = l.shown()
	if !l.Personal {
		shipments := l.Shipments
		l.Shipments = nil
		for _, sh := range shipments {
			l.Shipments = append(l.Shipments, sh.Shared())
		}
	}
	return json.Marshal(plain(l))
}
