package confirm_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// maker is a service that makes one intent, if its functions say so.
type maker struct {
	sent   int
	list   []api.Intent // newest first; nil: there is no list
	listed func(m *maker)
	broken error // ends the list, or is an item of it
	onSend func(m *maker) error
	read   error           // of an intent by its id
	state  api.IntentState // that a read shows
}

func (m *maker) Intent(context.Context, api.ID) (api.Intent, error) {
	in := made()
	in.State = m.state
	return in, m.read
}

func (m *maker) CreateIntent(context.Context, api.CreateIntent) (api.Intent, error) {
	m.sent++
	if m.onSend != nil {
		if err := m.onSend(m); err != nil {
			return api.Intent{}, err
		}
	}
	return made(), nil
}

func (m *maker) Purchase(ctx context.Context, body api.CreateIntent) (api.Intent, error) {
	return m.CreateIntent(ctx, body)
}

func (m *maker) Intents(context.Context) iter.Seq2[api.Intent, error] {
	return func(yield func(api.Intent, error) bool) {
		if m.listed != nil {
			m.listed(m)
		}
		if m.list == nil {
			yield(api.Intent{}, api.ErrNotServed)
			return
		}
		if m.broken != nil && !yield(api.Intent{}, m.broken) {
			return
		}
		for _, in := range m.list {
			if !yield(in, nil) {
				return
			}
		}
	}
}

func made() api.Intent {
	return api.Intent{ID: id, State: api.RetrievingOffer, CreatedAt: time.Now(), ProductURL: chili, Quantity: 2, ReferenceID: "order-7"}
}

const chili = "https://spice-lab.example/products/chili-crisp"

func creation() confirm.Creation {
	return confirm.Creation{Environment: tunnel, Purchase: true, Most: "at most 60.00 USD",
		Wanted: api.Intent{ProductURL: chili, Quantity: 2, ReferenceID: "order-7"}}
}

func creator(t *testing.T) (*confirm.Guard, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	g, err := confirm.New(confirm.Config{Environments: []string{"simulator", tunnel}, AuditFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, file
}

func TestCreationVerdicts(t *testing.T) {
	refuse := func(status int, message api.Text) func(*maker) error {
		return func(*maker) error { return &api.Error{Status: status, Message: message} }
	}
	lost := func(*maker) error { return &lostAnswer{} }
	failed := made()
	failed.State = api.Failed
	failed.CreatedAt = time.Time{}
	another := made()
	another.ReferenceID = "order-8"
	cases := []struct {
		name    string
		maker   maker
		verdict confirm.Verdict
		proves  confirm.Purchase
		sent    int
	}{
		{"taken", maker{list: []api.Intent{}}, confirm.Accepted, confirm.Placed, 1},
		{"taken, where there is no list", maker{}, confirm.Accepted, confirm.Placed, 1},
		{"there is one already", maker{list: []api.Intent{another, made()}}, confirm.Already, confirm.Placed, 0},
		{"the one that there is has failed", maker{list: []api.Intent{failed}}, confirm.Accepted, confirm.Placed, 1},
		{"invalid", maker{onSend: refuse(422, "")}, confirm.Refused, confirm.NotPlaced, 1},
		{"invalid, and the list does not have it", maker{list: []api.Intent{}, onSend: refuse(422, "")}, confirm.Refused, confirm.NotPlaced, 1},
		{"invalid, and the list cannot be read", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.broken = &api.Error{Status: 503}
			return &api.Error{Status: 422}
		}}, confirm.Refused, confirm.NotPlaced, 1},
		{"invalid, as a doubled one was taken", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.list = []api.Intent{made()}
			return &api.Error{Status: 422, Message: "the reference is taken"}
		}}, confirm.Overtaken, confirm.Placed, 1},
		{"the daily limit", maker{list: []api.Intent{}, onSend: refuse(429, "the limit of 50 per day")}, confirm.Refused, confirm.NotPlaced, 1},
		{"refused, and a doubled one was taken", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.list = []api.Intent{made()}
			return &api.Error{Status: 429, Message: "the limit of 10 running agents"}
		}}, confirm.Overtaken, confirm.Placed, 1},
		{"refused, and the list cannot be read", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.broken = &api.Error{Status: 503}
			return &api.Error{Status: 429, Message: "the limit of 10 running agents"}
		}}, confirm.Unknown, confirm.Unproven, 1},
		{"refused, and an item of the list cannot be read", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.broken = &api.ItemError{Err: errors.New("no id")}
			return &api.Error{Status: 429, Message: "the limit of 10 running agents"}
		}}, confirm.Unknown, confirm.Unproven, 1},
		{"refused, and its reference now belongs to something that may be it", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.list = []api.Intent{made()}
			m.list[0].ProductURL += "?variant=1"
			return &api.Error{Status: 409}
		}}, confirm.Unknown, confirm.Unproven, 1},
		{"lost, and the list has it later", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			taken := time.Now()
			m.listed = func(m *maker) {
				if time.Since(taken) > time.Minute {
					m.list = []api.Intent{made()}
				}
			}
			return &lostAnswer{}
		}}, confirm.Accepted, confirm.Placed, 1},
		{"lost, and it failed", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			in := made()
			in.State = api.Failed
			m.list = []api.Intent{in}
			return &lostAnswer{}
		}}, confirm.Accepted, confirm.NotPlaced, 1},
		{"lost, and the list spells its reference in another way", maker{list: []api.Intent{}, onSend: func(m *maker) error {
			m.list = []api.Intent{made()}
			m.list[0].ReferenceID += " "
			return &lostAnswer{}
		}}, confirm.Accepted, confirm.Placed, 1},
		{"lost, and the list never has it", maker{list: []api.Intent{}, onSend: lost}, confirm.Unknown, confirm.Unproven, 1},
		{"lost, where there is no list", maker{onSend: lost}, confirm.Unknown, confirm.Unproven, 1},
		{"an error of the service", maker{onSend: refuse(500, "")}, confirm.Unknown, confirm.Unproven, 1},
		{"it never left", maker{onSend: func(*maker) error { return &api.TransportError{} }}, confirm.NotSent, confirm.NotPlaced, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, file := creator(t)
				on := c.maker
				hook := on.onSend
				on.onSend = func(m *maker) error {
					if lines := auditLines(t, file); len(lines) != 1 || lines[0].Stage != confirm.Sending || lines[0].Total != "at most 60.00 USD" {
						t.Errorf("sent with this in the audit log: %v", lines)
					}
					if hook == nil {
						return nil
					}
					return hook(m)
				}
				out := g.Create(t.Context(), &on, creation(), nil)
				if out.Verdict != c.verdict || out.Proves() != c.proves || on.sent != c.sent {
					t.Errorf("%s, proves %d, sent %d times: %v", out.Verdict, out.Proves(), on.sent, out.Err)
				}
				if lines := auditLines(t, file); c.sent > 0 && (len(lines) != 2 || lines[1].Verdict != c.verdict) {
					t.Errorf("audit log: %v", lines)
				}
			})
		})
	}
}

func TestACreationThatAnotherServiceAnswersIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := creator(t)
		c := creation()
		c.Environment = "simulator"
		if out := g.Create(t.Context(), &maker{list: []api.Intent{}}, c, nil); out.Verdict != confirm.Unknown { // the maker is none
			t.Errorf("%s: %v", out.Verdict, out.Err)
		}
	})
}

func TestACreationThatIsRefusedForWhatItSaysEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := creator(t)
		began := time.Now()
		m := &maker{list: []api.Intent{}, onSend: func(*maker) error { return &api.Error{Status: 422} }}
		if out := g.Create(t.Context(), m, creation(), nil); out.Verdict != confirm.Refused || time.Since(began) > 0 {
			t.Errorf("%s after %s", out.Verdict, time.Since(began))
		}
	})
}

func TestNothingIsClaimedOfACreationWhileTheAuditLogCannotBeRead(t *testing.T) {
	g, file := creator(t)
	if err := errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out := g.Create(t.Context(), &maker{}, creation(), nil); out.Verdict != confirm.NotSent || out.Proves() != confirm.Unproven {
		t.Errorf("%q proves %d: %s", out.Verdict, out.Proves(), out)
	}
}

func TestWhatWasSentIsNotSentAgainWhileItsOutcomeIsUnknown(t *testing.T) {
	lost := func(*maker) error { return &lostAnswer{} }
	cases := []struct {
		name    string
		list    []api.Intent // when it is asked for again
		after   time.Duration
		verdict confirm.Verdict
		again   bool // it is sent
	}{
		{"there is no list", nil, time.Hour, confirm.NotSent, false},
		{"the list does not have it, and it may be held yet", []api.Intent{}, 30 * time.Second, confirm.NotSent, false},
		{"the list never had it", []api.Intent{}, time.Hour, confirm.Accepted, true},
		{"the list has it", []api.Intent{made()}, time.Hour, confirm.Already, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := creator(t)
				m := &maker{onSend: lost}
				if out := g.Create(t.Context(), m, creation(), nil); out.Verdict != confirm.Unknown {
					t.Fatalf("first %s", out.Verdict)
				}
				time.Sleep(c.after)
				m.onSend, m.list = nil, c.list
				out := g.Create(t.Context(), m, creation(), nil)
				if out.Verdict != c.verdict || m.sent != 1 && !c.again || out.Unsettled == (c.verdict != confirm.NotSent) {
					t.Errorf("%s, unsettled %v, sent %d times: %v", out.Verdict, out.Unsettled, m.sent, out.Err)
				}
				other := creation()
				other.Wanted.ReferenceID = "order-8"
				if out := g.Create(t.Context(), m, other, nil); out.Verdict != confirm.Accepted {
					t.Errorf("another order: %s: %v", out.Verdict, out.Err)
				}
			})
		})
	}
}

func TestWhatWasMadeIsNotMadeAgainThoughNoListShowsIt(t *testing.T) {
	cases := []struct {
		name    string
		list    []api.Intent
		state   api.IntentState
		read    error
		verdict confirm.Verdict
		sent    int
	}{
		{"there is no list", nil, api.Completed, nil, confirm.Already, 1},
		{"the list is empty", []api.Intent{}, api.AwaitingConfirmation, nil, confirm.Already, 1},
		{"it cannot be read", []api.Intent{}, "", &api.Error{Status: 404}, confirm.Already, 1},
		{"it failed", nil, api.Failed, nil, confirm.Accepted, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, file := creator(t)
			m := &maker{list: c.list, state: c.state, read: c.read}
			if out := g.Create(t.Context(), m, creation(), nil); out.Verdict != confirm.Accepted {
				t.Fatalf("first %s: %v", out.Verdict, out.Err)
			}
			later, err := confirm.New(confirm.Config{Environments: []string{tunnel}, AuditFile: file})
			if err != nil {
				t.Fatal(err)
			}
			defer later.Close()
			out := later.Create(t.Context(), m, creation(), nil)
			if out.Verdict != c.verdict || m.sent != c.sent || out.Intent == nil || out.Intent.ID != id || out.Proves() != confirm.Placed {
				t.Errorf("then %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
			}
		})
	}
}

func TestAReferenceIsOfOneThingUnlessAnotherItemIsAskedFor(t *testing.T) {
	order := func(change func(*confirm.Creation)) confirm.Creation {
		c := creation()
		change(&c)
		return c
	}
	more := order(func(c *confirm.Creation) { c.Wanted.Quantity = 3 })
	lost := func(*maker) error { return &lostAnswer{} }
	elsewhere := made()
	elsewhere.Quantity, elsewhere.State = 7, api.Completed
	failed := elsewhere
	failed.State = api.Failed
	cases := []struct {
		name    string
		first   confirm.Creation
		onSend  func(*maker) error // of the first
		list    []api.Intent
		state   api.IntentState // of the first, when it is read
		second  confirm.Creation
		verdict confirm.Verdict
		sent    int
		used    bool
	}{
		{"another quantity", creation(), nil, nil, api.Completed, more, confirm.Already, 1, true},
		{"another product", creation(), nil, nil, api.PlacingOrder, order(func(c *confirm.Creation) { c.Wanted.ProductURL = "https://shop.example/mug" }), confirm.Already, 1, true},
		{"the first one has failed", creation(), nil, nil, api.Failed, more, confirm.Accepted, 2, false},
		{"the first one's answer was lost", creation(), lost, nil, "", more, confirm.NotSent, 1, true},
		{"one more item", creation(), nil, nil, api.Completed, order(func(c *confirm.Creation) { c.Wanted.Quantity, c.Another = 3, true }), confirm.Accepted, 2, false},
		{"one more item, and the first one's answer was lost", creation(), lost, nil, "", order(func(c *confirm.Creation) { c.Wanted.Quantity, c.Another = 3, true }), confirm.Accepted, 2, false},
		{"a reference that goes on", creation(), nil, nil, api.Completed, order(func(c *confirm.Creation) { c.Wanted.ReferenceID, c.Wanted.Quantity = "order-7 b", 3 }), confirm.Accepted, 2, false},
		{"made elsewhere", order(func(c *confirm.Creation) { c.Wanted.ReferenceID = "order-6" }), nil, []api.Intent{elsewhere}, api.Completed, more, confirm.Already, 1, true},
		{"made elsewhere, and failed", order(func(c *confirm.Creation) { c.Wanted.ReferenceID = "order-6" }), nil, []api.Intent{failed}, api.Completed, more, confirm.Accepted, 2, false},
		{"in staging", order(func(c *confirm.Creation) { c.Environment = "staging" }), nil, nil, api.Completed, more, confirm.Accepted, 2, false},
		{"the same in staging", order(func(c *confirm.Creation) { c.Environment = "staging" }), nil, nil, api.Completed, creation(), confirm.Accepted, 2, false},
		{"the same in a stand-in", order(func(c *confirm.Creation) { c.Environment = "simulator" }), lost, nil, "", creation(), confirm.Accepted, 2, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := creator(t)
				m := &maker{list: []api.Intent{}, onSend: c.onSend, state: c.state}
				if out := g.Create(t.Context(), m, c.first, nil); (out.Verdict == confirm.Accepted) != (c.onSend == nil) {
					t.Fatalf("first %s: %v", out.Verdict, out.Err)
				}
				m.onSend, m.list = nil, c.list
				out := g.Create(t.Context(), m, c.second, nil)
				if out.Verdict != c.verdict || m.sent != c.sent || errors.Is(out.Err, confirm.ErrUsed) != c.used || out.Proves() == confirm.NotPlaced {
					t.Errorf("then %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
				}
			})
		})
	}
}

func TestWhatWasLostIsWarnedOfForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, file := creator(t)
		g.Create(t.Context(), &maker{onSend: func(*maker) error { return &lostAnswer{} }}, creation(), nil)
		warned := func(environment string) string {
			g, err := confirm.New(confirm.Config{Environments: []string{environment}, AuditFile: file})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			return strings.Join(g.Warnings(), "\n")
		}
		if said := warned(tunnel); !strings.HasPrefix(said, "the outcome of 2 × "+chili+", sent at ") || !strings.HasSuffix(said, " is unknown: run tillwatch order order-7 to find out") {
			t.Errorf("warned of %q", said)
		}
		if said := warned("elsewhere"); said != "" {
			t.Errorf("elsewhere warned of %q", said)
		}
		time.Sleep(25 * time.Hour)
		if said := warned(tunnel); said != "" {
			t.Errorf("a day later warned of %q", said)
		}
	})
}

func TestCreationsStandInTheAuditLogWithoutTheirSecrets(t *testing.T) {
	g, file := creator(t)
	c := creation()
	c.Wanted.ReferenceID, c.Wanted.ProductURL = "", "https://shop.example/x?token=tell-nobody"
	for range 2 { // without a reference each is another
		if out := g.Create(t.Context(), &maker{onSend: func(*maker) error { return &lostAnswer{} }}, c, nil); out.Verdict != confirm.Unknown {
			t.Errorf("%s: %v", out.Verdict, out.Err)
		}
	}
	if open := confirm.NewHistory(file, nil).Read(); len(open) > 0 {
		t.Errorf("there is no intent to read of %v", open)
	}
	for _, line := range auditLines(t, file) {
		if strings.Contains(string(line.Product), "tell-nobody") {
			t.Errorf("the audit log reveals a token: %v", line)
		}
	}
}
