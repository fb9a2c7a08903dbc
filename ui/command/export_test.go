package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/session"
)

// hostileIntent is a failed intent all of whose texts would be something else in
// Markdown, to a shell or to a terminal.
const hostileIntent = `{"id":"ci_1","state":"failed","createdAt":"2026-06-18T11:50:00.000Z","quantity":2,
"productUrl":"https://acme.example/products/[x](https://evil.example)?a=1","buyer":{"firstName":"Zadie","email":"zadie@mail.example","phone":"646-555-0143","country":"US"},
"paymentMethod":{"type":"vault_token","vaultToken":"3f1c9a52-live-token"},"variantSelections":[{"label":"<img src=x>","value":"@all"}],
"referenceId":"# order | 7","failureReason":{"code":"product_out_of_stock","message":"![](https://evil.example/pixel) ` + "```\\n# gone" + ` \u001b[2J"},
"offer":{"product":{"title":"*Wool* _Socks_ <script>"},"cost":{"total":{"amountSubunits":4452,"currencyCode":"USD"}}}}`

// exporterOf is an exporter of a session that knows the intents, and is connected to
// nothing.
func exporterOf(t *testing.T, bodies ...string) exporter {
	t.Helper()
	s := config.Defaults()
	s.APIURL, s.APIKey, s.StateDir = "https://api.example/it's", api.NewSecret("key-of-the-test"), filepath.Join(t.TempDir(), "state")
	current, err := session.New(s, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(current.Close)
	for _, body := range bodies {
		in, err := api.DecodeIntent([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		current.Store.ApplyRead(in, time.Now(), account.ByRead)
	}
	return exporter{current, s.StateDir}
}

func TestNothingRemoteIsMarkdownInAnExport(t *testing.T) {
	text, err := exporterOf(t, hostileIntent).text("ci_1", dashboard.Markdown, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(text, "\n") {
		outside, _ := withoutCode(line)
		outside = strings.TrimPrefix(strings.TrimPrefix(outside, "## "), "# ")
		outside = strings.TrimPrefix(outside, "- ")
		if strings.ContainsAny(strings.ReplaceAll(outside, "**", ""), "*_<>[]!`#|@&\\\x1b") || strings.Contains(outside, "://") || strings.Contains(outside, "gone") {
			t.Errorf("line %d lets remote text be Markdown: %q", i, line)
		}
	}
	for _, want := range []string{"# ✕ failed · ", "- Intent: `ci_1`", "`*Wool* _Socks_ <script>`", "## Why it failed", "`product_out_of_stock`", "- Total: 44.52 USD",
		"`# order | 7`", "## Timeline", "The buyer and payment tokens are masked.", "## Made by", version()} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, secret := range []string{"Zadie", "zadie@", "646-555", "3f1c9a52", "key-of-the-test"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
}

func TestOnlyWhatCameFromOutsideIsCodeInAnExport(t *testing.T) {
	e := exporterOf(t)
	in := &account.IntentDetail{Timeline: []*account.Moment{
		{What: account.Unchanged, Count: 18},
		{What: account.MadeElsewhere, Who: "shop/1.0", To: api.RetrievingOffer},
		{What: account.ReadShowed, To: "on_*hold*"},
	}}
	in.ID, in.Shipments = "ci_1", nil
	l := intentLineOf(e.Session, in, false, true, time.Now())
	l.Shipments = []*account.Shipment{{ID: "shp_1", Latest: &api.Shipment{Status: api.Delayed}}}
	text := l.text()
	for _, want := range []string{" unchanged (18 reads) (", "made by `shop/1.0`, seen by the proxy: retrieving offer (", "read: `on *hold*` (", ": ! delayed\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestAnIntentInNoKnownStateIsSaidToBe(t *testing.T) {
	e := exporterOf(t)
	for _, missing := range []bool{false, true} {
		in := &account.IntentDetail{}
		in.ID, in.Missing = "ci_1", missing
		l := intentLineOf(e.Session, in, false, true, time.Now())
		want := map[bool]string{false: "not known: all that is known is that the intent exists", true: "not known: the service answered 404 to the last read"}[missing]
		if !strings.HasPrefix(l.text(), "# · unknown\n") || !strings.Contains(l.text(), "- State: "+want+"\n") {
			t.Errorf("missing: %t\n%s", missing, l.text())
		}
	}
}

// withoutCode is a line without its code spans, as CommonMark finds them.
func withoutCode(line string) (outside string, spans []string) {
	for {
		from := strings.IndexByte(line, '`')
		if from < 0 {
			return outside + line, spans
		}
		rest := strings.TrimLeft(line[from:], "`")
		fence := line[from : len(line)-len(rest)]
		end := -1
		for at := 0; at < len(rest); {
			next := strings.IndexByte(rest[at:], '`')
			if next < 0 {
				break
			}
			run := len(rest[at+next:]) - len(strings.TrimLeft(rest[at+next:], "`"))
			if run == len(fence) {
				end = at + next
				break
			}
			at += next + run
		}
		if end < 0 {
			outside, line = outside+line[:from]+fence, rest
			continue
		}
		outside, spans, line = outside+line[:from], append(spans, rest[:end]), rest[end+len(fence):]
	}
}

func FuzzTextInMarkdownIsTextAlone(f *testing.F) {
	for _, seed := range []string{"Wool Socks", "a`b", "``", "` `", "www.evil.example", "a: b://c", "  x", "&lt;", "1. a", "\x60\x60\x60go", "日本 ✓"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := marked(string(api.Scrub(text)))
		outside, spans := withoutCode(got)
		if len(spans) > 1 || len(spans) == 1 && outside != "" || strings.ContainsAny(outside, "*_<>[]()!`#|@&\\~\n\r\x1b/") {
			t.Errorf("%q became %q: outside %q, code %q", text, got, outside, spans)
		}
	})
}

func TestAnExportShowsTheBuyerOnlyOnRequestAndSaysSo(t *testing.T) {
	e := exporterOf(t, hostileIntent)
	text, err := e.text("ci_1", dashboard.Markdown, true)
	if err != nil || !strings.Contains(text, "Zadie") || !strings.Contains(text, "**Personal data of the buyer is shown.**") || strings.Contains(text, "3f1c9a52") {
		t.Errorf("error %v:\n%s", err, text)
	}
	for _, personal := range []bool{false, true} {
		text, err := e.text("ci_1", dashboard.JSON, personal)
		var r map[string]any
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if err != nil || strings.Contains(text, "Zadie") != personal || r["personal_data_shown"] != personal || r["program"] != version() || strings.Contains(text, "3f1c9a52") {
			t.Errorf("personal %v, error %v:\n%s", personal, err, text)
		}
	}
}

func TestExportsAreFilesOfTheirOwnForTheirOwnerAlone(t *testing.T) {
	e := exporterOf(t, hostileIntent, strings.Replace(hostileIntent, "ci_1", "../../ci 2", 1))
	seen := map[string]bool{}
	for _, id := range []api.ID{"ci_1", "ci_1", "ci_1", "../../ci 2"} {
		path, err := e.Save(id, dashboard.JSON, false)
		if err != nil {
			t.Fatal(err)
		}
		at, err := os.Stat(path)
		if err != nil || at.Mode().Perm() != 0o600 || seen[path] || filepath.Dir(path) != filepath.Join(e.Settings.StateDir, "exports") {
			t.Errorf("%s: %v, error %v", path, at, err)
		}
		seen[path] = true
	}
	if err := os.RemoveAll(e.Settings.StateDir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.Settings.StateDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := e.Save("ci_1", dashboard.Markdown, false); err == nil || !strings.HasPrefix(err.Error(), "not a directory: ") {
		t.Errorf("a folder that is a file took %q, %v", path, err)
	}
	if _, err := e.Save("ci_9", dashboard.Markdown, false); err == nil || err.Error() != "it is no longer kept here" {
		t.Errorf("error %v", err)
	}
}

func TestRequestsThatNamedAnIntentAreInItsExport(t *testing.T) {
	e := exporterOf(t, hostileIntent)
	for i, path := range []string{"/api/v1/checkout-intents/ci_1", "/api/v1/checkout-intents/ci_12", "/api/v1/checkout-intents/ci_1/shipments?after=…", "/api/v1/shipments"} {
		e.Store.RecordExchange(api.Exchange{Method: "GET", Path: path, Status: 200, Sent: time.Now(), RequestID: api.Text(fmt.Sprint("req_", i))})
	}
	text, err := e.text("ci_1", dashboard.Markdown, false)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"req_0": true, "req_1": false, "req_2": true, "req_3": false} {
		if strings.Contains(text, id) != want {
			t.Errorf("%s is in it: %v, want %v:\n%s", id, !want, want, text)
		}
	}
}

func TestAddressesAreMaskedUnlessTheyAreRevealed(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, _ := s.awaiting(t, "https://us:opensesame@evil.example/p?size=M&token=abcdef")
	masked := "evil.example/p?size=M&token="
	for _, form := range []string{"", "--json"} {
		args := []string{"intent", id, "--config", s.config}
		if form != "" {
			args = append(args, form)
		}
		plain := strings.NewReplacer(`\`, "", "u0026", "&").Replace
		if said := plain(runAs(t, args...).out); strings.Contains(said, "opensesame") || strings.Contains(said, "abcdef") || !strings.Contains(said, masked) {
			t.Errorf("%v print\n%s", args, said)
		}
		if said := plain(runAs(t, append(args, "--reveal")...).out); !strings.Contains(said, "opensesame") || !strings.Contains(said, "token=abcdef") {
			t.Errorf("%v --reveal print\n%s", args, said)
		}
	}
}
