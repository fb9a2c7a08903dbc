package command

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

func TestTheQuotaIsPrintedInWords(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	tallies := func(requests, refused, errors int) []account.Tally {
		return []account.Tally{{At: now.Add(-5 * time.Minute), Requests: requests, Refused: refused, Errors: errors}}
	}
	sum := account.Summary{
		Limits: []account.Limit{
			{Name: account.LimitReads, Window: time.Second, Limit: account.Figure{N: 10, Grounds: account.Told}, Used: account.Figure{N: 7, Grounds: account.Told}},
			{Name: account.LimitLookup, Window: time.Second, Limit: account.Figure{N: 10, Grounds: account.Assumed}},
			{Name: account.LimitDay, Window: 24 * time.Hour, Limit: account.Figure{N: 50, Grounds: account.Assumed}, Used: account.Figure{N: 31, Grounds: account.Counted},
				Pace: 20, RunsOut: now.Add(57 * time.Minute), Returns: now.Add(9 * time.Hour)},
		},
		Spenders: []account.Spender{
			{Kind: account.SpenderOwn, Purpose: quota.Hint, Uses: []account.Use{{Class: quota.Reads, Endpoint: "GET /a", Series: account.Series[account.Tally]{Minutes: tallies(20, 0, 1)}}}},
			{Kind: account.SpenderObserved, Name: "shop-worker", Key: "f00d", Uses: []account.Use{
				{Class: quota.Reads, Endpoint: "GET /a", P95: 80 * time.Millisecond, Series: account.Series[account.Tally]{Minutes: tallies(1000, 12, 0)}}, {Class: quota.Mutations, Endpoint: "POST /a", Series: account.Series[account.Tally]{Minutes: tallies(60, 0, 0)}},
			}},
			{Kind: account.SpenderRest, Uses: []account.Use{{Class: quota.Lookup, Series: account.Series[account.Tally]{Minutes: tallies(120, 0, 0)}}}},
			{Kind: account.SpenderObserved, Name: "gone", Uses: []account.Use{{Class: quota.Reads, Series: account.Series[account.Tally]{Hours: tallies(9, 0, 0)}}}},
		},
	}
	want := `reads   7 of 10 used, 3 left in 1s
lookup  unknown of 10 (assumed) used in 1s
day     at least 31 of 50 (assumed) used, at most 19 left; at 20 an hour used
        up at 12:57, slots return at 21:00

SPENDER, LAST HOUR      REQUESTS  SHARE  REFUSED  ERRORS  P95 OF THE SLOWEST ENDPOINT
shop-worker             1,060     88 %   12       0       80ms
the rest, not observed  120       10 %   0        0       –
tillwatch event         20        2 %    0        1       –
`
	if got := quotaText(&sum, now); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := quotaLine(&sum); got != "reads 7 of 10  lookup unknown of 10 (assumed)  day at least 31 of 50 (assumed)" {
		t.Error(got)
	}
	sum.Feed.ObservedSince = now.Add(-20 * time.Minute)
	if got := quotaText(&sum, now); got != want+"observed since 11:40: earlier requests of others may be missing\n" {
		t.Errorf("of a relay that began 20 minutes ago\n%s", got)
	}
}

func TestFollowingTheQuotaPrintsOnlyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := config.Defaults()
		s.APIURL, s.APIKey, s.StateDir = "http://127.0.0.1:1", api.NewSecret("key-of-the-test"), t.TempDir()
		current, err := session.Open(s, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer current.Close()
		var once, followed bytes.Buffer
		if err := printQuota(t.Context(), current.Store, nil, false, streams{out: &once}); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		if err := printQuota(ctx, current.Store, nil, true, streams{out: &followed}); err != nil {
			t.Fatal(err)
		}
		if c := current.Store.Changes(0); quotaLine(&c.Summary) == "" {
			t.Fatal("no limit is known, so this test shows nothing")
		}
		if followed.String() != once.String() {
			t.Errorf("while nothing changed, --follow printed\n%s\nwant\n%s", &followed, &once)
		}
	})
}
