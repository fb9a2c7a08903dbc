package pane

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func fieldsOfIntents() []Field { return NewIntents(look(), api.ConfirmWindow).Fields() }

// found asks the pane for its only intent.
func found(p *Intents, f *Filter) bool {
	p.SetFilter(f)
	shown, _ := p.Matches()
	return shown == 1
}

func socks() *Intents {
	in := intentOf("ci_77", api.AwaitingConfirmation, 12*time.Minute)
	in.Product, in.Merchant = "Wool Socks", "Acme.example"
	in.Total = &api.Money{Currency: "USD", Subunits: 4452}
	in.Quantity, in.ReferenceID = 2, "order-9"
	return intents(180, 12, in)
}

func TestAFilterFindsRows(t *testing.T) {
	row := socks()
	cases := []struct {
		filter string
		want   bool
	}{
		{"wool", true}, {"WOOL", true}, {"wool mug", false}, {"wool acme", true}, {"!mug", true}, {"!wool", false},
		{"state:await", true}, {"state:failed", false}, {"!state:failed", true}, {"merchant:acme", true}, {"merchant:wool", false},
		{"id:77", true}, {"product:socks", true}, {"44.52", true}, {"order-9", true}, {"Product:Socks", true},
		{`"wool socks"`, true}, {`"socks wool"`, false}, {`product:"wool socks"`, true}, {`!"wool socks"`, false},
		{"total>44.51", true}, {"total>44.52", false}, {"total>=44.52", true}, {"total<100", true}, {"total<=44", false}, {"total=44.52", true}, {"total:44.52", true},
		{"total>40usd", true}, {"total>40eur", false}, {"!total>100", true}, {"!total>1", false},
		{"age>10m", true}, {"age>15m", false}, {"age<1h30m", true}, {"age<1d", true}, {"age>600s", true}, {"age>0", true}, {"age>1d", false},
		{"state:failed,await", true}, {"state:failed,completed", false}, {"!state:failed,completed", true}, {"!state:failed,await", false},
		{`merchant:"Acme.example, Inc",acme`, true}, {`merchant:"Acme.example,acme"`, false}, {"merchant:globex,acme", true}, {"state:failed,", false}, {"state:,await", true},
		{`state:"awaiting confirmation"`, true}, {"state:AWAITING_CONFIRMATION", true}, {"quantity=1,2", true}, {"quantity:1,3", false}, {"!quantity=1,3", true},
		{"wool,mug", true}, {"mug,wool", true}, {"mug,lamp", false}, {"!mug,lamp", true}, {"!mug,wool", false}, {`"wool,mug"`, false}, {`mug,"wool socks"`, true},
		{"wool,mug state:failed", false}, {"mug,state:await", true}, {"state:failed,merchant:acme", true}, {"state:failed,merchant:globex", false}, {"mug,total>40", true}, {"total>90,quantity=2", true}, {"quantity=1,2,state:failed", true},
		{"/wool.*cks/", true}, {"/WOOL.*Cks/", true}, {"/^wool/", true}, {"/wool$/", false}, {"/socks$/", true}, {"/wool.*acme/", false}, {"/wool socks/", true}, {"!/wool socks/", false},
		{"/wo{1,3}l/", true}, {"/wo{3,4}l/", false}, {"mug,/wool s/", true}, {"/mug|lamp/", false}, {"/mug|wool/", true}, {"/[x-z]ool|[v-w]ool/", true}, {"/(sock)+/", true}, {"/w(ool|ater)/", true}, {"/z?ool/", true}, {"/z*/", true},
		{"merchant:/^acme\\./", true}, {"merchant:/^example/", false}, {"!merchant:/^acme/", false}, {"merchant:globex,/^ac.e/", true}, {"product:/^wool/ state:/^await/", true},
		{"/wool.*c", true}, {"/wool.*x", false}, {"/", true}, {"//", true}, {"/a/b", false}, {"merchant:/acme", true}, {`"/wool.*cks/"`, false}, {"wool/", false},
		{"quantity=2", true}, {"quantity>2", false}, {"wool state:await total>10 age>10m", true}, {"wool state:await total>10 age>1h", false},
		{"12:30", false}, {"", true}, {"!", true}, {`"`, true},
	}
	for _, c := range cases {
		f := ParseFilter(c.filter, fieldsOfIntents())
		if f != nil {
			if f.Wrong != "" {
				t.Errorf("%q: %s", c.filter, f.Wrong)
			}
		}
		if got := f == nil || found(row, f); got != c.want {
			t.Errorf("%q finds the row: %t, want %t", c.filter, got, c.want)
		}
	}
	if ParseFilter(" \t ", fieldsOfIntents()) != nil {
		t.Error("blanks are a filter")
	}
}

func TestWhatIsNotUnderstoodIsSaidAndHidesNothing(t *testing.T) {
	cases := map[string]string{
		"colour:red":              "there is no field colour; there are state, merchant",
		"https://acme":            `"…" finds text`,
		"state:":                  "write a word after it",
		"state:,":                 "write a word after it",
		"state:foo":               `there is no state "foo"; there are retrieving_offer, awaiting_confirmation, placing_order, completed, failed`,
		"state:failed,foo":        `there is no state "foo"`,
		"!state:foo":              `there is no state "foo"`,
		"age>10":                  "10 after age>: write a time with its unit, such as 90s, 10m",
		"total>1,000":             "total> takes one value: write thousands without a comma",
		"quantity=,":              "write a number",
		"total>":                  "write an amount, such as 100",
		"total>much":              "much after total>: write an amount",
		"total>1euros":            "write an amount",
		"age>10x":                 "10x after age>: write a time with its unit, such as 90s",
		"age>-5m":                 "write a time with its unit",
		"state>failed":            "state cannot be compared: write state:word",
		"quantity=two":            "write a number",
		"wool colour:red":         "there is no field colour",
		"total>100 total>>":       "write an amount",
		"state:failed,colour:red": "there is no field colour", "merchant:a,total>much": "much after total>: write an amount",
		"wool,!mug": "! excludes a whole term", "!!mug": "! excludes a whole term",
		"/soc[k/": "/soc[k/: missing closing ] at character 4, [k", "/so(ck/": "/so(ck/: missing closing )", "wool /s**/": "/s**/: invalid nested repetition operator at character 2, **",
		"/a{1001}/": "/a{1001}/: invalid repeat count at character 2, {1001}", "/(a{30}){30}/": "it is too large", "/é[/": "at character 2, [", `/a\`: "trailing backslash",
	}
	row := socks()
	for text, want := range cases {
		f := ParseFilter(text, fieldsOfIntents())
		if f == nil || !strings.Contains(f.Wrong, want) {
			t.Errorf("%q: %+v, want %q", text, f, want)
			continue
		}
		if strings.HasPrefix(text, "total>100") {
			continue
		}
		if !found(row, f) {
			t.Errorf("%q hides a row that what is understood of it does not", text)
		}
	}
}

func TestAnAgeThatNobodySawBeginIsFoundOnlyAsFarAsItIsKnown(t *testing.T) {
	found1h := intentOf("a", api.PlacingOrder, time.Hour) // by a read; it was made two hours ago
	found1h.Found, found1h.CreatedAt = true, noon.Add(-2*time.Hour)
	unmade := intentOf("a", api.PlacingOrder, time.Hour)
	unmade.Found, unmade.CreatedAt = true, time.Time{}
	ended := intentOf("a", api.Completed, time.Hour)
	ended.FoundEnded, ended.CreatedAt = true, noon.Add(-2*time.Hour)
	for name, in := range map[string]*account.Intent{"made two hours ago": found1h, "made at an unknown time": unmade, "made two hours ago, and found ended": ended} {
		row := intents(180, 12, in)
		for filter, want := range map[string]bool{
			"age>50m": true, "age>=60m": true, "age>70m": false, "age<10m": false, "age<70m": false, "age=60m": false,
			"age<=2h": in != unmade, "age<3h": in != unmade, "!age>3h": true,
		} {
			if got := found(row, ParseFilter(filter, fieldsOfIntents())); got != want {
				t.Errorf("%s: %q finds it: %t, want %t", name, filter, got, want)
			}
		}
	}
}

func TestWhatNobodyKnowsIsSortedLastInBothDirections(t *testing.T) {
	named := func(id string, subunits int64) *account.Intent {
		in := intentOf(id, api.Failed, time.Hour)
		in.Total, in.Product, in.Merchant = &api.Money{Currency: "USD", Subunits: subunits}, api.Scrub(id), api.Scrub(id)
		return in
	}
	bare := intentOf("bare", api.Failed, time.Hour)
	bare.Total, bare.Product, bare.Merchant = nil, "", ""
	p := intents(160, 20, bare, named("a", 100), named("b", 900))
	for order, want := range map[string][2]string{
		"total":    {"b a bare", "a b bare"},
		"product":  {"a b bare", "b a bare"},
		"merchant": {"a b bare", "b a bare"},
	} {
		p.Sort(order, false)
		for _, want := range want {
			var list []string
			for _, row := range p.list.Found() {
				list = append(list, string(row.ID))
			}
			if got := strings.Join(list, " "); got != want {
				t.Errorf("by %s: %s, want %s", p.order, got, want)
			}
			p.Sort("", true)
		}
	}
}

func TestARowWithoutAFigureIsNotFoundByIt(t *testing.T) {
	row := intents(180, 12, &account.Intent{ID: "a", State: api.Failed})
	for _, text := range []string{"total>0", "total<9", "age>0s", "age<9d", "quantity<9"} {
		if f := ParseFilter(text, fieldsOfIntents()); found(row, f) {
			t.Errorf("%q finds a row of which it is not known", text)
		}
	}
}

func TestOtherPanesHaveFieldsOfTheirOwn(t *testing.T) {
	l := look()
	events := NewEvents(l, noIntent)
	events.Apply(&account.Changes{Events: []*account.Event{
		{ID: "1", Type: api.ShipmentCreated, Received: noon.Add(-time.Hour)}, {ID: "2", Type: api.OfferRetrieved, Received: noon, Origin: "backfill"}}}, true)
	requests := NewRequests(l)
	requests.Apply(&account.Changes{Requests: []api.Exchange{
		{Method: "GET", Path: "/a", Status: 200, Attempt: 1, Latency: 20 * time.Millisecond, Sent: noon.Add(-time.Second), Class: "reads"},
		{Method: "POST", Path: "/b", Status: 500, Attempt: 2, Latency: 2 * time.Second, Sent: noon, Class: "mutations"}}}, true)
	shipments := NewShipments(l)
	shipments.Apply(&account.Changes{Shipments: []*account.Shipment{
		{ID: "1", Latest: &api.Shipment{Status: api.Shipped, UpdatedAt: noon.Add(-time.Hour), Tracking: &api.Tracking{Carrier: "DHL", Number: "42"}}}, {ID: "2"}}}, true)
	alerts := NewAlerts(l, nil)
	alerts.Apply(&account.Changes{Summary: account.Summary{Alerts: []account.Alert{{Kind: account.AlertDay, Text: "x", Since: noon}, {Kind: account.AlertStuck, Text: "y", Intent: "i", Since: noon.Add(-time.Hour)}}}}, true)
	type filtered interface {
		Fields() []Field
		SetFilter(*Filter)
		Matches() (int, int)
	}
	cases := []struct {
		name string
		pane filtered
		text string
	}{
		{"events", events, "type:shipment"}, {"events", events, "age>10m"}, {"events", events, "origin:backfill"},
		{"requests", requests, "status:500"}, {"requests", requests, "latency>200ms"}, {"requests", requests, "latency<200ms"}, {"requests", requests, "method:post"},
		{"requests", requests, "class:reads"}, {"requests", requests, "attempt>1"}, {"requests", requests, "path:/b"},
		{"shipments", shipments, "status:shipped"}, {"shipments", shipments, "carrier:dhl"}, {"shipments", shipments, "tracking:42"}, {"shipments", shipments, "age<2h"},
		{"alerts", alerts, "kind:stuck"}, {"alerts", alerts, "id:i"}, {"alerts", alerts, "age>10m"},
	}
	for _, c := range cases {
		f := ParseFilter(c.text, c.pane.Fields())
		if f.Wrong != "" {
			t.Errorf("%s: %q: %s", c.name, c.text, f.Wrong)
		}
		c.pane.SetFilter(f)
		if shown, total := c.pane.Matches(); shown != 1 || total != 2 {
			t.Errorf("%s: %q finds %d of %d, want 1 of 2", c.name, c.text, shown, total)
		}
	}
}

func TestAStateThatTheContractDoesNotListIsOneOnceARowIsInIt(t *testing.T) {
	l := look()
	shipments := NewShipments(l)
	shipments.Apply(&account.Changes{Shipments: []*account.Shipment{{ID: "1", Latest: &api.Shipment{Status: "lost_at_sea"}}}}, true)
	events := NewEvents(l, noIntent)
	events.Apply(&account.Changes{Events: []*account.Event{{ID: "1", Type: "checkout_intent.requires_action"}}}, true)
	alerts := NewAlerts(l, nil)
	for _, c := range []struct {
		name, text, wrong string
		fields            []Field
	}{
		{"intents that have none", "state:requires_action", `there is no state "requires_action"`, socks().Fields()},
		{"intents", "state:requires_action", "", intents(180, 12, intentOf("a", "requires_action", time.Minute)).Fields()},
		{"shipments", "status:lost", "", shipments.Fields()},
		{"shipments under another name", "state:at_sea", "", shipments.Fields()},
		{"shipments that have none", "status:burnt", `there is no status "burnt"; there are ordered, shipped, delayed`, shipments.Fields()},
		{"events", "type:requires_action", "", events.Fields()},
		{"events that have none", "type:refund", `there is no type "refund"; there are checkout_intent.offer_retrieved`, events.Fields()},
		{"alerts", "kind:stuck", "", alerts.Fields()},
		{"alerts that have none", "kind:fire", `there is no kind "fire"; there are confirm, relay`, alerts.Fields()},
	} {
		if f := ParseFilter(c.text, c.fields); !strings.HasPrefix(f.Wrong, c.wrong) || c.wrong == "" && f.Wrong != "" {
			t.Errorf("%s: %q: %q, want %q", c.name, c.text, f.Wrong, c.wrong)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{"wool", "!a state:failed", "merchant:", ":::!", "\xff!\x00", "total>1e9", `a:"b c`, "age>9999999h", "state:a,,b", `state:"a,b",c`, "total>.", "age>>=<",
		"/gel.*pen/", "a,/b c/,!d", "merchant:/^a{1,3}$/,state:failed", `/a\/b/`, "/[/", "!/x", "/(?i)(a|b)*/", `/\pL+\Qa/b`, "//,/"} {
		f.Add(seed)
	}
	row, fields := socks(), fieldsOfIntents()
	f.Fuzz(func(t *testing.T, text string) {
		parsed := ParseFilter(text, fields)
		if parsed == nil {
			return
		}
		if len(parsed.terms) == 0 && parsed.Wrong == "" {
			t.Error("a filter that asks for nothing must be none")
		}
		if hit := found(row, parsed); len(parsed.terms) == 0 && !hit {
			t.Error("what is not understood hides a row")
		}
		if parsed.Broken && parsed.Wrong == "" {
			t.Error("nothing says which expression is broken")
		}
	})
}

// TestAFilterFindsWhatTheTextHolds compares a filter with plain searching,
// while rows change and grow.
func TestAFilterFindsWhatTheTextHolds(t *testing.T) {
	p := intents(180, 12)
	names := []string{"Mug", "Wool Socks with a name that is rather long", "İstanbul Lamp", "", "Mug ×2"}
	now := map[string]string{}
	for i := range 3000 {
		in := intentOf("ci_"+strconv.Itoa(i%500), api.IntentStates()[i%5], time.Minute)
		in.Product = api.Text(names[i*7%len(names)])
		now[string(in.ID)] = strings.ToLower(string(in.Product))
		p.Apply(&account.Changes{Intents: []*account.Intent{in}}, true)
		if i%97 > 0 {
			continue
		}
		for _, text := range []string{"mug", "socks", "lamp", "i", "product:mug", "!product:mug"} {
			p.SetFilter(ParseFilter(text, p.Fields()))
			want := 0
			word := strings.TrimPrefix(strings.TrimPrefix(text, "!"), "product:")
			for id, name := range now {
				hit := strings.Contains(name, word)
				if word == text {
					hit = hit || strings.Contains(id, word) || word == "i"
				}
				if hit != strings.HasPrefix(text, "!") {
					want++
				}
			}
			if got, _ := p.Matches(); got != want {
				t.Fatalf("after %d changes %q finds %d rows, want %d", i+1, text, got, want)
			}
		}
	}
}

func TestAnExpressionOfTextsAloneIsSearchedAsText(t *testing.T) {
	for text, plain := range map[string]bool{"wool|mug": true, "wool": true, "wool|mu.": false, "wool|": false, "^wool": false} {
		if f := ParseFilter("/"+text+"/", fieldsOfIntents()); f.Slow() == plain {
			t.Errorf("%s is slow: %t", text, f.Slow())
		}
	}
}

func TestAFilterThatIsNotUnderstoodCountsNothing(t *testing.T) {
	p := socks()
	p.SetPlace(Place{W: 160, H: 20})
	p.SetFilter(ParseFilter("age>>", p.Fields()))
	if got := text(p.Lines()); !strings.Contains(got, "not filtered") || strings.Contains(got, " of ") {
		t.Errorf("the lanes count what a filter finds that asks for nothing:\n%s", got)
	}
}

func TestTheHeadsOfTheLanesStayWhereAFilterFindsNothing(t *testing.T) {
	p := intents(120, 20, intentOf("a", api.Completed, 0), intentOf("b", api.Failed, 0))
	p.SetFilter(ParseFilter("nothing-like-this", p.Fields()))
	if got := text(p.Lines()); !strings.Contains(got, "✓ completed 0 of 1") || !strings.Contains(got, "nothing matches") {
		t.Errorf("the heads of the lanes are not all there:\n%s", got)
	}
}
