package confirm_test

import (
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// loseOne sends a creation whose answer is lost, where there is no list.
func loseOne(t *testing.T) (*confirm.Guard, string, confirm.Line) {
	t.Helper()
	g, file := creator(t)
	if out := g.Create(t.Context(), &maker{onSend: func(*maker) error { return &lostAnswer{} }}, creation(), nil); out.Verdict != confirm.Unknown {
		t.Fatalf("it is %s: %v", out.Verdict, out.Err)
	}
	open := g.Creations()
	if len(open) != 1 || open[0].Reference() != "order-7" || open[0].Quantity != 2 {
		t.Fatalf("listed are %+v", open)
	}
	return g, file, open[0]
}

func TestWhatNobodyWillKnowIsClosedByHandAndCountsAsNeither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, file, line := loseOne(t)
		if err := g.Drop(line); err == nil || len(g.Creations()) != 1 {
			t.Errorf("closed while it may be on its way: %v", err)
		}
		time.Sleep(3 * time.Minute)
		if err := g.Drop(line); err != nil {
			t.Fatal(err)
		}
		if err := g.Drop(line); err == nil {
			t.Error("it is closed twice")
		}
		lines := auditLines(t, file)
		if last := lines[len(lines)-1]; last.Verdict != confirm.Closed || last.Attempt != line.Attempt {
			t.Errorf("the audit log has %+v", last)
		}
		again, err := confirm.New(confirm.Config{Environments: []string{tunnel}, AuditFile: file})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if said := again.Warnings(); len(said) > 0 || len(again.Creations()) > 0 {
			t.Errorf("the next run still has it open: %q", said)
		}
		m := &maker{}
		if out := again.Create(t.Context(), m, creation(), nil); out.Verdict != confirm.Accepted || m.sent != 1 {
			t.Errorf("the same again is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
		}
	})
}

func TestWhatCameOfALostCreationIsEnteredByHandAndHeldAgainstARead(t *testing.T) {
	cases := []struct {
		name string
		read func(*api.Intent)
		fits bool
	}{
		{"what was sent", func(*api.Intent) {}, true},
		{"its reference in another spelling", func(in *api.Intent) { in.ReferenceID = " order-7" }, true},
		{"another product", func(in *api.Intent) { in.ProductURL += "-2" }, false},
		{"another quantity", func(in *api.Intent) { in.Quantity = 1 }, false},
		{"another reference", func(in *api.Intent) { in.ReferenceID = "order-8" }, false},
		{"an older one", func(in *api.Intent) { in.CreatedAt = in.CreatedAt.Add(-time.Hour) }, false},
		{"of a stand-in", func(in *api.Intent) { in.Response.From = api.Environment{Name: "simulator", StandIn: true} }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _, line := loseOne(t)
				in := made()
				in.Response.From = api.Environment{Name: tunnel}
				c.read(&in)
				if err := g.Made(line, &in); (err == nil) != c.fits || (len(g.Creations()) == 0) != c.fits {
					t.Fatalf("recorded: %v", err)
				}
				m := &maker{}
				out := g.Create(t.Context(), m, creation(), nil)
				if m.sent != 0 || c.fits && (out.Verdict != confirm.Already || out.Intent.ID != id) || !c.fits && !out.Unsettled {
					t.Errorf("the same again is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
				}
			})
		})
	}
}
