package wording

import (
	"errors"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func TestCountsSeparateThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1042: "1,042", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 intents", 1: "1 intent", 1042: "1,042 intents"} {
		if got := Counted(n, "intent", "intents"); got != want {
			t.Errorf("Counted(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAmountsAreReadable(t *testing.T) {
	for written, want := range map[string]string{"1234.50 USD": "1,234.50 USD", "none": "none", "Wool Socks": "Wool Socks", "": ""} {
		if got := Amount(written); got != want {
			t.Errorf("Amount(%q) = %q, want %q", written, got, want)
		}
	}
}

func TestAgesHaveOneUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 13 * time.Second: "13s", 38 * time.Minute: "38m", 25 * time.Hour: "25h", 72 * time.Hour: "3d", 1500 * 24 * time.Hour: "1,500d",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestWhatIsToComeHasComeOnceTheSpanIsOver(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", time.Millisecond: "1s", 59 * time.Second: "59s", 59*time.Second + 1: "1m", 61 * time.Second: "2m",
		38 * time.Minute: "38m", 59*time.Minute + 1: "1h", 11*time.Hour + 50*time.Minute: "12h", 47 * time.Hour: "47h", 47*time.Hour + 1: "2d", 50 * time.Hour: "3d",
	} {
		if got := Until(d); got != want {
			t.Errorf("Until(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestAnAlertPromisesNoMoreThanIsTrue(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		alert       account.Alert
		within, due string
	}{
		{"without an end", account.Alert{Kind: account.AlertFailed}, "", ""},
		{"less than that is left to act", account.Alert{Kind: account.AlertExpiring, Due: now.Add(110 * time.Second)}, " within 1m", " within 1m"},
		{"no time is left to act", account.Alert{Kind: account.AlertExpiring, Due: now.Add(-time.Second)}, " within 0s", " within 0s"},
		{"a slot is back later", account.Alert{Kind: account.AlertDay, Due: now.Add(11*time.Hour + 50*time.Minute + 20*time.Second)}, " within 12h", " by 23:51"},
		{"a slot is back on the minute", account.Alert{Kind: account.AlertDay, Due: now.Add(12 * time.Hour)}, " within 12h", " by 00:00"},
	} {
		if within, due := Within(&c.alert, now), Due(&c.alert, now, time.UTC); within != c.within || due != c.due {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, within, due, c.within, c.due)
		}
	}
}

func TestTimesTakenChangeTheirUnitBeforeTheyGrowADigit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1ms", 999 * time.Microsecond: "<1ms", 82 * time.Millisecond: "82ms", 999_400 * time.Microsecond: "999ms", 999_600 * time.Microsecond: "1.0s",
		1174 * time.Millisecond: "1.2s", 9940 * time.Millisecond: "9.9s", 9960 * time.Millisecond: "10s", 12 * time.Minute: "12m",
	} {
		if got := Took(d); got != want {
			t.Errorf("Took(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestFailuresSayWhatIsKnown(t *testing.T) {
	cases := []struct {
		name string
		f    *api.FailureReason
		want string
	}{
		{"nothing known", nil, "reason unknown"},
		{"a code", &api.FailureReason{Code: "product_out_of_stock", Message: "Sorry"}, "out of stock"},
		{"a code of the intent", &api.FailureReason{Code: "checkout_intent_expired"}, "expired"},
		{"a message alone", &api.FailureReason{Message: "Sorry"}, "Sorry"},
		{"an unknown code with a message", &api.FailureReason{Code: "unknown", Message: "Sorry"}, "Sorry"},
		{"an unknown code alone", &api.FailureReason{Code: "unknown"}, "unknown"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Failure(c.f); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRemoteTextIsSafeToDraw(t *testing.T) {
	if got := Name("out_of\x1b[2J_stock"); got != "out of[2J stock" {
		t.Errorf("name %q", got)
	}
	if got := Because(errors.New("no\rway")); got != "no way" {
		t.Errorf("error %q", got)
	}
	if got := Because(nil); got != "" {
		t.Errorf("no error is %q", got)
	}
}

func TestAnHourThatIsNotWhollyObservedSaysSinceWhen(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		since time.Time
		kind  account.SpenderKind
		span  account.Span
		want  string
	}{
		"the relay began in it":  {now.Add(-10 * time.Minute), account.SpenderObserved, account.LastHour, "observed since 11:50"},
		"the relay began before": {now.Add(-10 * time.Minute), account.SpenderObserved, account.LastMinute, ""},
		"the relay has it all":   {time.Time{}, account.SpenderObserved, account.LastDay, ""},
		"no proxy reports":       {now.Add(-10 * time.Minute), account.SpenderRest, account.LastHour, ""},
	} {
		if got := ObservedSince(c.since, []account.Spender{{Kind: c.kind}}, c.span, now, time.UTC); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatReadsWaitForIsSaidWithUntilWhen(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 10, 0, time.UTC)
	for _, c := range []struct {
		name   string
		bucket quota.Bucket
		next   time.Duration
		want   string
	}{
		{"spread, soon", quota.Bucket{Policy: "daily", Limit: 5000, Remaining: 4248, Reset: 20 * time.Hour}, 57 * time.Second,
			`reads wait for 57s: of "daily" 4,248 of 5,000 are left, spread over its window`},
		{"spread, later", quota.Bucket{Policy: "hourly", Limit: 100, Remaining: 80, Reset: time.Hour}, 2 * time.Minute,
			`reads wait until 12:03: of "hourly" 80 of 100 are left, spread over its window`},
		{"kept", quota.Bucket{Policy: "daily", Limit: 5000, Remaining: 40, Reset: 2 * time.Hour}, 2 * time.Hour,
			`reads wait until 14:01: of "daily" only 40 of 5,000 are left, kept for checkouts`},
		{"used up, without a name", quota.Bucket{Limit: 5000, Reset: 30 * time.Hour}, 30 * time.Hour, "reads wait until Mar 5 18:01: the quota is used up"},
		{"without a limit", quota.Bucket{Policy: "edge", Remaining: 1, Reset: time.Hour}, time.Hour, `reads wait until 13:01: of "edge" only 1 are left, kept for checkouts`},
	} {
		c.bucket.ObservedAt, c.bucket.Next = now, now.Add(c.next)
		if got := Holds(&c.bucket, now, time.UTC); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Holds(nil, now, time.UTC); got != "" {
		t.Errorf("nothing waits, and %q is said", got)
	}
}

func TestAShippingOptionIsNamedWithItsDays(t *testing.T) {
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	for want, o := range map[string]api.ShippingOption{
		"":                     {},
		"std":                  {ID: "std"},
		"Ground":               {ID: "std", Label: "Ground"},
		"std, Nov 23 to 26":    {ID: "std", EarliestDelivery: on(time.November, 23), LatestDelivery: on(time.November, 26)},
		"std, Nov 29 to Dec 2": {ID: "std", EarliestDelivery: on(time.November, 29), LatestDelivery: on(time.December, 2)},
		"std, Nov 23":          {ID: "std", EarliestDelivery: on(time.November, 23), LatestDelivery: on(time.November, 23)},
		"std, by Nov 26":       {ID: "std", LatestDelivery: on(time.November, 26)},
		"std, from Nov 23":     {ID: "std", EarliestDelivery: on(time.November, 23)},
		"by Nov 26":            {LatestDelivery: on(time.November, 26)},
	} {
		if got := Shipping(o, func(t time.Time) string { return Estimate(t, time.FixedZone("", -8*60*60)) }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
