package confirm_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/confirm"
)

func TestWhatNobodyWillKnowIsSentAgainOnlyWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, file := creator(t)
		if out := g.Create(t.Context(), &maker{onSend: func(*maker) error { return &lostAnswer{} }}, creation(), nil); out.Verdict != confirm.Unknown {
			t.Fatalf("it is %s: %v", out.Verdict, out.Err)
		}
		m, again := &maker{}, creation()
		again.Again = true
		if out := g.Create(t.Context(), m, again, nil); out.Verdict != confirm.NotSent || !out.Unsettled || !strings.Contains(out.Err.Error(), "may still be on its way: wait until") || m.sent != 0 {
			t.Errorf("while it may be on its way it is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
		}
		time.Sleep(4 * time.Minute)
		if out := g.Create(t.Context(), m, creation(), nil); !out.Unsettled || m.sent != 0 {
			t.Errorf("unasked it is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
		}
		if out := g.Create(t.Context(), m, again, nil); out.Verdict != confirm.Accepted || m.sent != 1 {
			t.Errorf("asked it is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
		}
		if out := g.Create(t.Context(), m, again, nil); out.Verdict != confirm.Already || m.sent != 1 {
			t.Errorf("once it is made it is %s, sent %d times: %v", out.Verdict, m.sent, out.Err)
		}
		closed := 0
		for _, line := range auditLines(t, file) {
			if line.Verdict == confirm.Closed {
				closed++
			}
		}
		next, err := confirm.New(confirm.Config{Environments: []string{tunnel}, AuditFile: file})
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		if said := next.Warnings(); len(said) > 0 || closed != 1 {
			t.Errorf("the next run still has it open: %q, and the audit log closes it %d times", said, closed)
		}
	})
}
