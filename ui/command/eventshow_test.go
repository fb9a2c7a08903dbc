package command

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestOneEventIsShownByItsID(t *testing.T) {
	r := startEvents(t, 3)
	r.deliver(t, 2)
	other := strings.Replace(eventOf(2, "checkout_intent.completed"), "hidden@", "another@", 1)
	if status := r.post(t, http.DefaultClient, oldSecret, other); status != http.StatusOK {
		t.Fatal(status)
	}
	code, out, said := events(t, "evt_2")
	for _, part := range []string{"evt_2\n", "checkout_intent_2\n", "by webhook\n", "delivered again 2×, with another body 1×\n", ":2\n", `"email": "[masked]"`} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
	if code != exitDone || said != "" || strings.Contains(out, "hidden@example.com") {
		t.Errorf("%d %s%s", code, out, said)
	}
	code, out, _ = events(t, "evt_2", "--json")
	if all := eventLines(t, out); code != exitDone || len(all) != 1 || all[0].Event.Seq != 2 || all[0].Event.Duplicates != 2 || all[0].Conflicts != 1 ||
		!strings.HasSuffix(all[0].Cursor, ":2") {
		t.Errorf("%d %s", code, out)
	}
	code, out, _ = events(t, "evt_2", "--raw")
	if code != exitDone || out != eventOf(2, "checkout_intent.completed") {
		t.Errorf("%d, the body that came first is %s", code, out)
	}
	if code, out, said = events(t, "evt_9"); code != exitFailed || out != "" || !strings.Contains(said, "no such event") {
		t.Errorf("an unknown one: %d %s%s", code, out, said)
	}
	_, out, _ = events(t, "--json")
	if all := eventLines(t, out); len(all) != 3 || all[1].Conflicts != 1 {
		t.Errorf("the list shows no conflict: %s", out)
	}
}

func TestQuarantinedBodiesAreListed(t *testing.T) {
	r := startEvents(t, 1)
	if code, out, said := events(t, "--quarantined"); code != exitDone || out != "" || !strings.Contains(said, "every signed body was an event") {
		t.Errorf("none: %d %s%s", code, out, said)
	}
	for _, body := range []string{`{"type":"a","email":"hidden@example.com"}`, "\x1b[2Jtext"} {
		if status := r.post(t, http.DefaultClient, oldSecret, body); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	code, out, said := events(t, "--quarantined")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || said != "" || len(lines) != 3 || !strings.Contains(lines[1], "not JSON") || !strings.Contains(lines[2], "no id") ||
		strings.ContainsAny(out, "\x1b@") {
		t.Errorf("%d %q%s", code, out, said)
	}
	code, out, said = events(t, "--quarantined", "--json", "--raw", "--limit", "1")
	var line quarantineLine
	if err := json.Unmarshal([]byte(out), &line); err != nil || code != exitDone || string(line.Raw) != "\x1b[2Jtext" || line.Bytes != 8 ||
		line.Reason != "not JSON" || !strings.Contains(said, "there are more") {
		t.Errorf("%d %s%s, %v", code, out, said, err)
	}
	if status := r.post(t, http.DefaultClient, oldSecret, ""); status != http.StatusOK {
		t.Fatal(status)
	}
	if _, out, _ = events(t, "--quarantined", "--json", "--raw", "--limit", "1"); !strings.Contains(out, `"raw":""`) {
		t.Errorf("an empty body: %s", out)
	}
}

func TestATokenThatMayOnlyStreamIsToldWhatShowingNeeds(t *testing.T) {
	r := startEvents(t, 1)
	t.Setenv("TILLWATCH_RELAY_TOKEN", createToken(t, "--scope", "stream", "--data", r.data))
	eventually(t, "the relay knows the token", func() bool { code, _, _ := events(t); return code == exitDone })
	for _, args := range []string{"evt_1", "--quarantined", "--last 2"} {
		if code, _, said := events(t, strings.Fields(args)...); code != exitFailed || !strings.Contains(said, "scope read") {
			t.Errorf("%s: %d %s", args, code, said)
		}
	}
}
