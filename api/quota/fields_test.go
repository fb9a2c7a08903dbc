package quota

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// whole is a report of both fields, limited one of RateLimit alone, policed one
// of RateLimit-Policy alone.
func whole(name string, q, w, r, t int64) Report {
	return Report{Policy: name, Limit: q, Window: time.Duration(w) * time.Second, PolicyKnown: true,
		Remaining: r, RemainingKnown: true, Reset: time.Duration(t) * time.Second, ResetKnown: true}
}

func limited(name string, r, t int64) Report {
	return Report{Policy: name, Remaining: r, RemainingKnown: true, Reset: time.Duration(t) * time.Second, ResetKnown: true}
}

func policed(name string, q, w int64) Report {
	return Report{Policy: name, Limit: q, Window: time.Duration(w) * time.Second, PolicyKnown: true}
}

const keyA, keyB = `pk=:NjZjMmQxOTI5MmFk:`, `pk=:NDAyM2UwMzhjNzEy:`

func TestFieldsAreReadAsTheirVerdictsSay(t *testing.T) {
	lines := func(l ...string) []string { return l }
	tests := []struct {
		name    string
		limit   []string
		policy  []string
		want    []Report
		ignored []string // names of the ignored fields
		older   bool
		others  map[string]string
	}{
		// The service's documentation.
		{name: "the documented examples", limit: lines(`"default";r=7;t=1`), policy: lines(`"default";q=10;w=1`), want: []Report{whole("default", 10, 1, 7, 1)}},

		// Draft 8.
		{name: "draft: two policies on a line", policy: lines(`"burst";q=100;w=60,"daily";q=1000;w=86400`), want: []Report{policed("burst", 100, 60), policed("daily", 1000, 86400)}},
		{name: "draft: a policy alone", policy: lines(`"default";q=100;w=10`), want: []Report{policed("default", 100, 10)}},
		{name: "draft: per minute and per hour", policy: lines(`"permin";q=50;w=60,"perhr";q=1000;w=3600`), want: []Report{policed("permin", 50, 60), policed("perhr", 1000, 3600)}},
		{name: "draft: pad bits of a partition key that are not zero", policy: lines(`"peruser";q=100;w=60;pk=:cHsdsRa894==:`), want: []Report{policed("peruser", 100, 60)}},
		{name: "draft: a quota of bytes is not one of requests", policy: lines(`"peruser";q=65535;qu="bytes";w=10;pk=:sdfjLJUOUH==:`), ignored: lines("RateLimit-Policy")},
		{name: "draft: a quota of requests by name", policy: lines(`"peruser";q=5;qu="requests";w=10`), want: []Report{policed("peruser", 5, 10)}},
		{name: "draft: a limit alone", limit: lines(`"default";r=50;t=30`), want: []Report{limited("default", 50, 30)}},
		{name: "draft: a limit without a reset", limit: lines(`"default";r=999;pk=:dHJpYWwxMjEzMjM=:`), want: []Report{{Policy: "default", Remaining: 999, RemainingKnown: true}}},
		{name: "draft: a large limit", limit: lines(`"default";r=300000000;t=60;pk=:QXBwLTk5OQ==:`), want: []Report{limited("default", 300000000, 60)}},
		{name: "draft: nothing remains", limit: lines(`"problemPolicy";r=0;t=10`), want: []Report{limited("problemPolicy", 0, 10)}},
		{name: "draft: one of a day remains", limit: lines(`"daily";r=1;t=36400`), want: []Report{limited("daily", 1, 36400)}},
		{name: "draft: the policy field left out", limit: lines(`"dayLimit";r=100;t=36000`), want: []Report{limited("dayLimit", 100, 36000)}},
		{name: "draft: a refusal with nothing left", limit: lines(`"dynamic";r=0;t=20`), policy: lines(`"dynamic";q=15;w=20`), want: []Report{whole("dynamic", 15, 20, 0, 20)}},
		{name: "draft: a refusal with something left", limit: lines(`"dynamic";r=15;t=40`), policy: lines(`"dynamic";q=100;w=60`), want: []Report{whole("dynamic", 100, 60, 15, 40)}},
		{name: "draft: beside a Retry-After date", limit: lines(`"default";r=0;t=5`), want: []Report{limited("default", 0, 5)}},

		// Seen in public.
		{name: "public: one of each, named differently", limit: lines(`"default";r=50;t=30`), policy: lines(`"burst";q=100;w=60`), want: []Report{whole("burst", 100, 60, 50, 30)}},
		{name: "public: one line, comma and space", limit: lines(`"burst";r=8;t=1, "daily";r=4998;t=69076`), policy: lines(`"burst";q=10;w=10, "daily";q=5000;w=86400`),
			want: []Report{whole("burst", 10, 10, 8, 1), whole("daily", 5000, 86400, 4998, 69076)}},
		{name: "public: a policy by the hour alone", policy: lines(`"default";q=1000;w=3600`), want: []Report{policed("default", 1000, 3600)}},
		{name: "public: dots in the name", policy: lines(`"project.create.user";q=4;w=86400;pk=:user:`), want: []Report{policed("project.create.user", 4, 86400)}},
		{name: "public: a bare string as a parameter", limit: lines(`"resolvers";r=0;t=52`), policy: lines(`"fixed window";"resolvers";q=3000;w=300`),
			want: []Report{limited("resolvers", 0, 52)}, ignored: lines("RateLimit-Policy")},
		{name: "public: a partition key that is a string", policy: lines(`"free-user";q=10;w=60;pk="user-12345"`), want: []Report{policed("free-user", 10, 60)}},
		{name: "public: two policies, one limit", limit: lines(`"peer";r=0;t=1`), policy: lines(`"peer";q=10;w=1, "auth";q=600;w=60`),
			want: []Report{whole("peer", 10, 1, 0, 1), policed("auth", 600, 60)}},
		{name: "public: bare numbers of an older draft", limit: lines(`299`), policy: lines(`300;w=60`), ignored: lines("RateLimit", "RateLimit-Policy"), older: true},
		{name: "public: draft 7", limit: lines(`limit=10, remaining=9, reset=1`), policy: lines(`10;w=1`), ignored: lines("RateLimit", "RateLimit-Policy"), older: true},

		// Verdicts of a strict parser.
		{name: "strict: spaces after the semicolon", limit: lines(`"10-in-1sec"; r=9; t=1`), want: []Report{limited("10-in-1sec", 9, 1)}},
		{name: "strict: three lines", limit: lines(`"a";r=1;t=1`, `"b";r=2;t=2`, `"c";r=3;t=3`), want: []Report{limited("a", 1, 1), limited("b", 2, 2), limited("c", 3, 3)}},
		{name: "strict: duplicate names stay", limit: lines(`"a";r=1, "a";r=2`), want: []Report{{Policy: "a", Remaining: 1, RemainingKnown: true}, {Policy: "a", Remaining: 2, RemainingKnown: true}}},
		{name: "strict: a negative number", limit: lines(`"default";r=-1;t=1, "b";r=2;t=1`), want: []Report{limited("b", 2, 1)}},
		{name: "strict: a fraction", limit: lines(`"default";r=7.5;t=1, "b";r=2;t=1`), want: []Report{limited("b", 2, 1)}},
		{name: "strict: a token for a name", policy: lines(`default;q=10;w=1`), ignored: lines("RateLimit-Policy"), older: true},
		{name: "strict: a number for a name", policy: lines(`10;w=1`), ignored: lines("RateLimit-Policy"), older: true},
		{name: "strict: of a parameter given twice the last", limit: lines(`"default";r=7;r=3;t=1`), want: []Report{limited("default", 3, 1)}},
		{name: "strict: a trailing comma", limit: lines(`"default";r=7;t=1,`), ignored: lines("RateLimit")},
		{name: "strict: spaces around the equals sign", limit: lines(`"default"; r = 7`), ignored: lines("RateLimit")},
		{name: "strict: a space before the semicolon", limit: lines(`"default" ;r=7`), ignored: lines("RateLimit")},
		{name: "strict: keys in upper case", limit: lines(`"default";R=7;T=1`), ignored: lines("RateLimit")},
		{name: "strict: a letter outside ASCII", limit: lines(`"dé";r=7`), ignored: lines("RateLimit")},
		{name: "strict: more than 15 digits", limit: lines(`"default";r=99999999999999999`), ignored: lines("RateLimit")},
		{name: "strict: one bad member spoils the field", limit: lines(`"good";r=1;t=1`, `"bad" ;r=7`), ignored: lines("RateLimit")},

		// Captured from a server.
		{name: "capture A: a derived name", limit: lines(`"10-in-1sec"; r=9; t=1`), policy: lines(`"10-in-1sec"; q=10; w=1; ` + keyA), want: []Report{whole("10-in-1sec", 10, 1, 9, 1)}},
		{name: "capture A: the last of ten", limit: lines(`"10-in-1sec"; r=0; t=1`), policy: lines(`"10-in-1sec"; q=10; w=1; ` + keyA), want: []Report{whole("10-in-1sec", 10, 1, 0, 1)}},
		{name: "capture B: the name default", limit: lines(`"default"; r=8; t=1`), policy: lines(`"default"; q=10; w=1; ` + keyB), want: []Report{whole("default", 10, 1, 8, 1)}},
		{name: "capture C: three lines of each",
			limit:  lines(`"mutations"; r=4; t=1`, `"checkout-intents"; r=6; t=86400`, `"concurrent-agents"; r=9; t=3600`),
			policy: lines(`"mutations"; q=5; w=1; `+keyA, `"checkout-intents"; q=7; w=86400; `+keyA, `"concurrent-agents"; q=10; w=3600; `+keyA),
			want:   []Report{whole("mutations", 5, 1, 4, 1), whole("checkout-intents", 7, 86400, 6, 86400), whole("concurrent-agents", 10, 3600, 9, 3600)}},
		{name: "capture C: the daily limit refuses", limit: lines(`"mutations"; r=2; t=1`, `"checkout-intents"; r=0; t=86399`),
			policy: lines(`"mutations"; q=5; w=1; `+keyA, `"checkout-intents"; q=7; w=86400; `+keyA),
			want:   []Report{whole("mutations", 5, 1, 2, 1), whole("checkout-intents", 7, 86400, 0, 86399)}},
		{name: "capture D: the daily limit first", limit: lines(`"checkout-intents"; r=1; t=86400`, `"mutations"; r=4; t=1`),
			policy: lines(`"checkout-intents"; q=2; w=86400; `+keyA, `"mutations"; q=5; w=1; `+keyA),
			want:   []Report{whole("checkout-intents", 2, 86400, 1, 86400), whole("mutations", 5, 1, 4, 1)}},
		{name: "capture E: two of one name", limit: lines(`"default"; r=4; t=1`, `"default"; r=49; t=86400`),
			policy: lines(`"default"; q=5; w=1; `+keyA, `"default"; q=50; w=86400; `+keyA),
			want:   []Report{whole("default", 5, 1, 4, 1), whole("default", 50, 86400, 49, 86400)}},
		{name: "capture F: draft 7", limit: lines(`limit=10, remaining=9, reset=1`), policy: lines(`10;w=1`), ignored: lines("RateLimit", "RateLimit-Policy"), older: true},
		{name: "capture F: draft 6", policy: lines(`10;w=1`), ignored: lines("RateLimit-Policy"), older: true,
			others: map[string]string{"RateLimit-Limit": "10", "RateLimit-Remaining": "9", "RateLimit-Reset": "1"}},
		{name: "capture F: the fields before all drafts", older: true,
			others: map[string]string{"X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "1795208562"}},
		{name: "capture G: draft 8 beside older fields", limit: lines(`"100-in-1min"; r=99; t=60`), policy: lines(`"100-in-1min"; q=100; w=60; ` + keyA),
			want: []Report{whole("100-in-1min", 100, 60, 99, 60)}, older: true, others: map[string]string{"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "99"}},
		{name: "capture H, K: no field"},
		{name: "capture I: one a minute", limit: lines(`"1-in-1min"; r=0; t=60`), policy: lines(`"1-in-1min"; q=1; w=60; ` + keyA), want: []Report{whole("1-in-1min", 1, 60, 0, 60)}},
		{name: "capture J: less than a second, rounded up", limit: lines(`"burst"; r=2; t=1`), policy: lines(`"burst"; q=3; w=1; ` + keyA), want: []Report{whole("burst", 3, 1, 2, 1)}},

		// Pairing and bounds.
		{name: "two of one name in another order", limit: lines(`"default";r=4;t=1, "default";r=49;t=86399`), policy: lines(`"default";q=50;w=86400, "default";q=5;w=1`),
			want: []Report{whole("default", 5, 1, 4, 1), whole("default", 50, 86400, 49, 86399)}},
		{name: "one name, two partitions", limit: lines(`"u";r=1;t=1;` + keyB + `, "u";r=2;t=1;` + keyA), policy: lines(`"u";q=10;w=1;` + keyA + `, "u";q=20;w=1;` + keyB),
			want: []Report{whole("u", 20, 1, 1, 1), whole("u", 10, 1, 2, 1)}},
		{name: "one of each in different partitions", limit: lines(`"a";r=1;t=1;` + keyA), policy: lines(`"a";q=10;w=1;` + keyB), want: []Report{limited("a", 1, 1), policed("a", 10, 1)}},
		{name: "two of each, named differently", limit: lines(`"a";r=1;t=1, "b";r=2;t=1`), policy: lines(`"c";q=10;w=1, "d";q=20;w=1`),
			want: []Report{limited("a", 1, 1), limited("b", 2, 1), policed("c", 10, 1), policed("d", 20, 1)}},
		{name: "a gateway's line of draft 7 before the service's", limit: lines(`limit=100, remaining=90, reset=30`, `"a";r=1;t=1, "b";r=2;t=2`), policy: lines(`100;w=60`, `"a";q=10;w=1`),
			want: []Report{whole("a", 10, 1, 1, 1), limited("b", 2, 2)}, older: true},
		{name: "a missing r", limit: lines(`"a";t=1`), ignored: lines("RateLimit")},
		{name: "a missing q", policy: lines(`"a";w=1`), ignored: lines("RateLimit-Policy")},
		{name: "a missing w", policy: lines(`"a";q=10`), want: []Report{policed("a", 10, 0)}},
		{name: "a reset that is no number", limit: lines(`"a";r=1;t="soon"`), ignored: lines("RateLimit")},
		{name: "parameters not known", limit: lines(`"a";r=1;t=1;x=?1;y=2.5;z="s"`), want: []Report{limited("a", 1, 1)}},
		{name: "a list within the list", limit: lines(`("a" "b");r=1, "c";r=2;t=1`), want: []Report{limited("c", 2, 1)}, older: true},
		{name: "an absurd reset", limit: lines(`"a";r=1;t=999999999999999`), want: []Report{limited("a", 1, 25*3600)}},
		{name: "an absurd window", policy: lines(`"a";q=999999999999999;w=999999999999999`), want: []Report{policed("a", 999999999999999, 366*86400)}},
		{name: "an escaped quotation mark in a name", limit: lines(`"a\"b";r=1;t=1`), want: []Report{limited(`a"b`, 1, 1)}},
		{name: "an empty line", limit: lines(``), ignored: nil},
		{name: "a field with very many members", limit: lines(strings.Repeat(`"a";r=1,`, maxMembers) + `"a";r=1`), ignored: lines("RateLimit")},
		{name: "a field of very great length", limit: lines(strings.Repeat(`"a";r=1,`, 100_000) + `"a";r=1`), ignored: lines("RateLimit")},
		{name: "a long name", limit: lines(`"` + strings.Repeat("n", 500) + `";r=1;t=1`), want: []Report{limited(strings.Repeat("n", 64), 1, 1)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			for _, line := range test.limit {
				h.Add("RateLimit", line)
			}
			for _, line := range test.policy {
				h.Add("RateLimit-Policy", line)
			}
			for name, value := range test.others {
				h.Set(name, value)
			}
			got := ParseFields(h)
			if !reflect.DeepEqual(got.Reports, test.want) {
				t.Errorf("reports\n got %+v\nwant %+v", got.Reports, test.want)
			}
			var ignored []string
			for _, field := range got.Ignored {
				ignored = append(ignored, field.Field)
			}
			if !reflect.DeepEqual(ignored, test.ignored) {
				t.Errorf("ignored %q, want %q", ignored, test.ignored)
			}
			if got.Older != test.older {
				t.Errorf("older %v, want %v", got.Older, test.older)
			}
		})
	}
}

func TestFieldNamesAreReadInAnyCase(t *testing.T) {
	for _, name := range []string{"RateLimit", "ratelimit", "Ratelimit", "RATELIMIT"} {
		h := http.Header{name: {`"a";r=1;t=1`}, strings.ToLower(name + "-Policy"): {`"a";q=10;w=1`}}
		if got, want := ParseFields(h).Reports, []Report{whole("a", 10, 1, 1, 1)}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestTheTextOfAnIgnoredFieldIsSafeToShow(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"control characters", "\"a\x1b[31m\x00\u202e\";r", `"a.[31m..";r`},
		{"a partition key", `"a";"b";pk=:c2VjcmV0:;w=1, "c"`, `"a";"b";pk***`},
		{"a partition key that holds separators", `"a" ;pk="sec;ret,key";w=1`, `"a" ;pk***`},
		{"a partition key without quotes about", `a b;PK = :c2VjcmV0: ;w=1`, `a b;PK***;w=1`},
		{"a long one", `!` + strings.Repeat("x", 1000), `!` + strings.Repeat("x", 198) + `~`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ParseFields(http.Header{"Ratelimit": {test.line}})
			if len(got.Ignored) != 1 || got.Ignored[0].Text != test.want {
				t.Errorf("got %q, want %q", got.Ignored, test.want)
			}
		})
	}
}

func FuzzFieldsAreBoundedAndPrintable(f *testing.F) {
	f.Add(`"default";r=7;t=1`, `"default";q=10;w=1`)
	f.Add(`"a";r=1, "a";r=2`, `"fixed window";"resolvers";q=3000;w=300`)
	f.Add("\"d\x1b\";r=99999999999999999", `10;w=1`)
	f.Add(`"a";pk=::;t=2`, `"a";q=5;qu="bytes";qu="requests"`)
	f.Add(`"a";r=?1;r=2`, `"a";*x-1.y_z=?0;q=1;pk=u:1/*`)
	f.Fuzz(func(t *testing.T, limits, policies string) {
		got := ParseFields(http.Header{"Ratelimit": {limits}, "Ratelimit-Policy": {policies}})
		for _, r := range got.Reports {
			if len(r.Policy) > maxPolicyName || !isPrintable(r.Policy) {
				t.Errorf("name %q", r.Policy)
			}
			if r.Limit < 0 || r.Remaining < 0 || r.Window < 0 || r.Reset < 0 || r.Window > maxWindow || r.Reset > maxReset {
				t.Errorf("out of bounds: %+v", r)
			}
			if !r.PolicyKnown && !r.RemainingKnown {
				t.Errorf("a report of nothing: %+v", r)
			}
		}
		for _, field := range got.Ignored {
			if len(field.Text) > maxIgnoredText || !isPrintable(field.Text) {
				t.Errorf("text %q", field.Text)
			}
		}
	})
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
