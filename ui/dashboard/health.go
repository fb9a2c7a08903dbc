package dashboard

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// healthCheck says how healthy the picture is, and what a person can do about it.
type healthCheck struct {
	cfg     *Config
	picture *picture
	clock   time.Time
}

// health is the most important thing to know about the picture.
func (c healthCheck) health() pane.Health {
	s := &c.picture.summary
	h := pane.Health{Started: c.picture.started}
	switch {
	case !h.Started:
		h.Text, h.Style = "starting…", paint.Muted
	case s.API.State == account.APIUnauthorized:
		h.Text, h.Style = "the service refuses the API key", paint.Bad
		h.Advice = c.keyAdvice()
	case s.API.State == account.APIFailing && s.Feed.State == account.FeedLost:
		h.Text, h.Cause, h.Style = "neither the service nor the relay has answered"+c.since(s.API.Since), wording.Because(s.API.Err), paint.Bad
		h.Advice = c.nextTry()
		if at := c.ago(s.LastRead); at != "" {
			h.Advice = "what you see was read" + at + "; " + h.Advice
		}
	case s.Feed.State == account.FeedRefused:
		h.OfRelay = true
		h.Text, h.Cause, h.Style = "the relay refuses this dashboard", wording.Because(s.Feed.Err), paint.Bad
		h.Advice = "check TILLWATCH_RELAY_TOKEN, then start again; polling meanwhile"
	case s.Feed.State == account.FeedLost:
		h.OfRelay = true
		h.Text, h.Cause, h.Style = "relay lost"+c.ago(s.Feed.Since), wording.Because(s.Feed.Err), paint.Bad
		h.Advice = c.nextTry() + "; polling meanwhile"
	case s.API.State == account.APIFailing && lacksIntents(s.API.Err):
		h.Text, h.Cause, h.Style = "the API key may not read checkout intents", wording.Because(s.API.Err), paint.Bad
		h.Advice = "give it the scope, or use another key"
	case s.API.State == account.APIFailing:
		h.Text, h.Cause, h.Style = "the service has been failing"+c.since(s.API.Since), wording.Because(s.API.Err), paint.Bad
		h.Advice = "trying again"
		if at := c.ago(s.LastRead); at != "" {
			h.Advice = "what you see was read" + at
		}
	case unanswered(s):
		c.firstAnswer(&h)
	case s.Sourceless():
		h.Text, h.Style = "intents cannot be found: no relay is configured, and the service has no list of intents", paint.Warning
		if len(s.Intents) > 0 { // nothing else says so
			h.Text = "no relay and no list of intents: give --relay-url, --watch-id or --watch-ids"
			h.Advice = "until then, others stay unknown"
			break
		}
		h.Advice = "start with --relay-url to see all, with --watch-id or --watch-ids to see some, or press " +
			c.cfg.Actions.KeyOf(action.Jump) + " and type an id"
	case s.Holds(c.clock) != nil:
		h.Text, h.Style = wording.Holds(s.Holds(c.clock), c.clock, c.cfg.Location), paint.Warning
		if len(s.Intents) > 0 {
			h.Advice = c.cfg.Actions.KeyOf(action.Refresh) + " reads one now"
		}
	case s.Feed.State == account.FeedConnecting:
		h.OfRelay = true
		h.Text, h.Style = "connecting to the relay…", paint.Muted
	case s.Feed.State == account.FeedOff:
		h.Text, h.Style = "no relay is configured: intents are found only by polling", paint.Muted
	}
	return h
}

// lacksIntents reports whether the key lacks the scope for reading intents.
func lacksIntents(err error) bool {
	var answer *api.Error
	return errors.As(err, &answer) && errors.Is(answer, api.ErrScope) && answer.Method == http.MethodGet &&
		strings.HasPrefix(answer.Path, "/api/v1/checkout-intents") && !strings.Contains(answer.Path, "/shipments")
}

// unanswered reports whether the service has answered nothing yet.
func unanswered(s *account.Summary) bool {
	return s.API.State == account.APIUnknown && s.API.Latency == 0
}

// patience is how long the first answer may take before the screen says so.
const patience = 2 * time.Second

// firstAnswer says that the service has not answered yet, and for how long.
func (c healthCheck) firstAnswer(h *pane.Health) {
	s := &c.picture.summary
	h.Waiting, h.Text, h.Style = true, "waiting for the service's first answer", paint.Muted
	if waited := c.clock.Sub(c.picture.since); waited >= patience && c.cfg.Transport == nil {
		h.Text, h.Style = h.Text+", "+wording.Age(waited)+" so far", paint.Warning
		h.Cause = wording.Because(s.API.Err)
		if at := c.ago(s.LastRead); at != "" {
			h.Advice = "what you see was read" + at
		}
	}
	if s.Feed.State == account.FeedConnecting {
		h.OfRelay, h.Advice = true, "the relay has not answered yet, either"
	}
}

func (c healthCheck) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " " + wording.Age(c.clock.Sub(t)) + " ago"
}

func (c healthCheck) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " for " + wording.Age(c.clock.Sub(t))
}

// keyAdvice says what to do about a refused API key, and when it is tried again.
func (c healthCheck) keyAdvice() string {
	switch {
	case c.cfg.TryKey == nil:
		return "check TILLWATCH_API_KEY and that it belongs to this environment, then start again"
	case c.cfg.KeyFile != "":
		return "correct it in " + c.cfg.KeyFile + "; " + c.nextTrial()
	}
	return "check TILLWATCH_API_KEY and its environment; " + c.nextTrial()
}

// nextTrial says when a refused API key is tried again, and which key tries it now.
func (c healthCheck) nextTrial() string {
	at := "soon"
	if left := c.picture.summary.API.TryAt.Sub(c.clock); left > 0 {
		at = "in " + wording.Until(left)
	}
	return c.cfg.Actions.KeyOf(action.Refresh) + " tries again, else " + at
}

// nextTry says when a lost relay is reconnected, and which key does that now.
func (c healthCheck) nextTry() string {
	left := c.picture.summary.Feed.RetryAt.Sub(c.clock)
	switch {
	case left <= 0:
		return "reconnecting now"
	case c.cfg.Reconnect == nil:
		return "reconnecting in " + wording.Until(left)
	}
	return "reconnecting in " + wording.Until(left) + ", " + c.cfg.Actions.KeyOf(action.Reconnect) + " does it now"
}
