package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// digest is what happened while nobody looked.
type digest struct {
	absence
	now time.Time

	created   int
	completed int
	value     account.Purse
	failed    int // without expired ones
	reasons   map[string]int
	expired   int // not confirmed in time
	lapsed    int // the window is closed, but no read has shown the outcome
	undated   int // a read found them ended, perhaps long before
	notRead   int // known only to exist

	unanswered bool // the service has not answered yet

	confirms []*account.Confirm // whose outcome is unknown, or was and became known

	delivered, troubled []string
	raised              []alertSpan
	over                []alertSpan
	outages             []outage
	gaps                int
}

// within reports whether something happened in the absence.
func (d *digest) within(at time.Time) bool { return at.After(d.from) && !at.After(d.now) }

// digest collects what happened in the last absence, once, when somebody asks.
func (a *away) digest(now time.Time) *digest {
	d := &digest{absence: a.absence, now: now, reasons: map[string]int{}, notRead: a.picture.summary.NotRead, unanswered: unanswered(&a.picture.summary)}
	if !d.to.IsZero() {
		d.now = d.to
	}
	for _, in := range a.picture.intents {
		d.intent(in)
	}
	for _, s := range a.picture.shipments {
		d.shipment(s)
	}
	for _, c := range a.picture.summary.Confirms {
		if c.Unknown(now) || c.End == account.ConfirmLate || c.WasUnknown() && c.Ended.After(d.from) {
			d.confirms = append(d.confirms, c)
		}
	}
	slices.Sort(d.delivered)
	slices.Sort(d.troubled)
	for _, span := range a.alerting.spans {
		if d.within(span.Since) {
			d.raised = append(d.raised, span)
		}
		if d.within(span.over) {
			d.over = append(d.over, span)
		}
	}
	for _, o := range a.outages {
		if d.within(o.from) || o.from.Before(d.from) && (o.to.IsZero() || d.within(o.to)) {
			d.outages = append(d.outages, o)
		}
	}
	for _, at := range a.gaps {
		if d.within(at) {
			d.gaps++
		}
	}
	return d
}

func (d *digest) intent(in *account.Intent) {
	if d.within(in.CreatedAt) {
		d.created++
	}
	if in.State == api.AwaitingConfirmation && d.within(in.ExpiresAt) {
		d.lapsed++
	}
	if !d.within(in.Since) {
		return
	}
	if in.Entered().IsZero() && !d.within(in.CreatedAt) {
		d.undated++
		return
	}
	switch {
	case in.State == api.Completed:
		d.completed++
		d.value.Add(in.Total)
	case in.State == api.Failed && in.Failure != nil && in.Failure.Code.Group() == api.FailureExpiry:
		d.expired++
	case in.State == api.Failed:
		d.failed++
		d.reasons[cmp.Or(wording.Failure(in.Failure), "for an unknown reason")]++
	}
}

func (d *digest) shipment(s *account.Shipment) {
	if s.Latest == nil || !d.within(s.Latest.UpdatedAt) {
		return
	}
	name := cmp.Or(string(s.Product), string(s.ID))
	switch s.Status() {
	case api.Delivered:
		d.delivered = append(d.delivered, name)
	case api.Delayed, api.Canceled:
		d.troubled = append(d.troubled, name+" "+wording.Name(string(s.Status())))
	}
}

// any reports whether there is something to show.
func (d *digest) any() bool {
	return len(d.confirms)+d.created+d.completed+d.failed+d.expired+d.lapsed+len(d.delivered)+len(d.troubled)+len(d.raised)+len(d.outages)+d.gaps > 0
}

// short is the digest in a few words: what is new, and first what went wrong.
func (d *digest) short() string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, wording.Counted(n, one, many))
		}
	}
	for _, c := range d.confirms {
		parts = append(parts, cmp.Or(string(c.Product), string(c.Intent))+": "+wording.Doubt(c))
	}
	add(d.created, "new", "new")
	add(d.failed, "failed", "failed")
	add(d.expired, "expired", "expired")
	add(d.completed, "completed", "completed")
	if len(parts) == 0 {
		add(len(d.troubled), "in trouble", "in trouble")
		add(len(d.delivered), "delivered", "delivered")
		add(len(d.raised), "alert", "alerts")
		add(d.gaps+len(d.outages), "outage", "outages")
	}
	return strings.Join(parts[:min(len(parts), 3)], ", ")
}

func plainSentence(text string) dialog.Sentence {
	return dialog.Sentence{Style: paint.Text, Text: text}
}
func aside(text string) dialog.Sentence {
	return dialog.Sentence{Style: paint.Muted, Text: text}
}

// sheet shows what happened in the last absence, or since the start.
func (a *away) sheet() *dialog.Sheet {
	d := a.digest(a.cfg.Now())
	sections := []dialog.Section{
		{Title: "Since " + wording.Moment(d.from, a.cfg.Now(), a.cfg.Location), Lines: d.since()},
		{Title: "Confirms in doubt", Lines: d.confirmed(a.cfg.Now(), a.cfg.Location)},
		{Title: "Intents", Lines: d.intents()},
		{Title: "Shipments", Lines: d.shipments()},
		{Title: "Alerts", Lines: d.alerts(a.cfg.Now(), a.cfg.Location)},
		{Title: "Quota", Lines: d.quota(a.picture.summary.Quota)},
		{Title: "Relay", Lines: d.relay(a.cfg.Now(), a.cfg.Location, a.picture.summary.Feed.State)},
	}
	a.read()
	return dialog.NewSheet(a.cfg.Actions, "What happened", action.Digest, sections)
}

func (d *digest) confirmed(now time.Time, where *time.Location) (lines []dialog.Sentence) {
	for _, c := range d.confirms {
		style := paint.Text
		if c.Ended.IsZero() {
			style = paint.Unknown
		}
		text := fmt.Sprintf("%s, %s, sent %s: %s", cmp.Or(string(c.Product), string(c.Intent)), wording.Amount(c.Total), wording.Moment(c.Sent, now, where), wording.Doubt(c))
		lines = append(lines, dialog.Sentence{Style: style, Text: text})
	}
	if len(lines) == 0 {
		lines = append(lines, plainSentence("none"))
	}
	return lines
}

func (d *digest) since() []dialog.Sentence {
	why := string(d.why)
	switch {
	case why == "":
		why = "you have not been away since the start"
	case d.to.IsZero():
		why = strings.Replace(why, " was ", " is ", 1)
	}
	return []dialog.Sentence{aside(wording.Age(d.now.Sub(d.from)) + ": " + why)}
}

// notAnswered is said instead of counts of zero until the service answers.
func notAnswered() []dialog.Sentence {
	return []dialog.Sentence{aside("not known: the service has not answered yet")}
}

func (d *digest) intents() []dialog.Sentence {
	if d.unanswered && d.created+d.completed+d.failed+d.expired == 0 {
		return notAnswered()
	}
	lines := []dialog.Sentence{plainSentence(wording.Count(d.created) + " new")}
	completed := wording.Count(d.completed) + " completed"
	if d.completed > 0 {
		completed += " for " + wording.Sum(d.value.Sorted(), d.value.Unpriced)
	}
	lines = append(lines, plainSentence(completed), plainSentence(wording.Count(d.failed)+" failed"))
	reasons := slices.SortedFunc(maps.Keys(d.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.reasons[b], d.reasons[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		lines = append(lines, aside("  "+wording.Count(d.reasons[reason])+" "+reason))
	}
	expired := wording.Count(d.expired) + " expired"
	if d.why != "" {
		expired += " unseen"
	}
	lines = append(lines, plainSentence(expired))
	if d.lapsed > 0 {
		lines = append(lines, aside(wording.Counted(d.lapsed, "confirm window", "confirm windows")+" closed, and no read has shown the outcome yet"))
	}
	if d.undated > 0 {
		lines = append(lines, aside(wording.Counted(d.undated, "intent was", "intents were")+" found ended at an unknown time, so not counted here"))
	}
	if d.notRead > 0 {
		lines = append(lines, aside(wording.Counted(d.notRead, "intent is", "intents are")+" of unknown state, so not counted here"))
	}
	return lines
}

func (d *digest) shipments() []dialog.Sentence {
	if d.unanswered && len(d.delivered)+len(d.troubled) == 0 {
		return notAnswered()
	}
	return []dialog.Sentence{list(d.delivered, "delivered"), list(d.troubled, "in trouble")}
}

// list counts a kind and names the first, grouped by name and sorted.
func list(names []string, kind string) dialog.Sentence {
	text, between := wording.Count(len(names))+" "+kind, ": "
	for listed := 0; len(names) > 0 && listed < mostListed; listed++ {
		n := 1
		for n < len(names) && names[n] == names[0] {
			n++
		}
		text, between = text+between+names[0], ", "
		if n > 1 {
			text += " ×" + wording.Count(n)
		}
		names = names[n:]
	}
	if len(names) > 0 {
		text += " and " + wording.Count(len(names)) + " more"
	}
	return plainSentence(text)
}

// mostListed is how many of a kind are named.
const mostListed = 5

func (d *digest) alerts(now time.Time, where *time.Location) []dialog.Sentence {
	lines := []dialog.Sentence{plainSentence(fmt.Sprintf("%s raised, %s over", wording.Count(len(d.raised)), wording.Count(len(d.over))))}
	for _, span := range d.raised[max(len(d.raised)-2*mostListed, 0):] {
		end := "still stands"
		if !span.over.IsZero() {
			end = "over " + wording.Moment(span.over, now, where)
		}
		lines = append(lines, aside("  "+wording.Moment(span.Since, now, where)+" "+span.Text+" · "+end))
	}
	if d.why == closed {
		lines = append(lines, aside("alerts that came and went while tillwatch was not running are not known"))
	}
	return lines
}

// quota reports what was spent of each class, as far back as that is kept: by the
// minute for an hour, by the hour for a day.
func (d *digest) quota(buckets []quota.Bucket) []dialog.Sentence {
	var lines []dialog.Sentence
	words, classes := map[quota.Class]string{}, []quota.Class(nil)
	most := map[quota.Class]int{} // of a class's limits, the one with most data
	for _, bucket := range buckets {
		if _, ok := words[bucket.Class]; !ok {
			words[bucket.Class], classes = "not known", append(classes, bucket.Class)
		}
		samples, step := bucket.Hour, time.Minute
		if d.now.Sub(d.from) > time.Hour {
			samples, step = bucket.Day, time.Hour
		}
		var spent []quota.Sample
		known := false
		for _, sample := range samples {
			if end := sample.At.Add(step); end.After(d.from) && !sample.At.After(d.now) {
				spent, known = append(spent, sample), known || sample.Known
			}
		}
		own, others, refused := quota.Sum(spent)
		if !known || own+others < most[bucket.Class] {
			continue
		}
		most[bucket.Class] = own + others
		text := fmt.Sprintf("%s by tillwatch, at least %s by others", wording.Count(own), wording.Count(others))
		if refused > 0 {
			text += ", " + wording.Count(refused) + " refused"
		}
		words[bucket.Class] = text
	}
	for _, class := range classes {
		lines = append(lines, dialog.Sentence{Style: paint.Text, Text: string(class) + ": " + words[class]})
	}
	switch {
	case len(lines) == 0:
		return []dialog.Sentence{aside("not known: no answer has reported a limit")}
	case d.why == closed || d.now.Sub(d.from) > 24*time.Hour:
		lines = append(lines, aside("without what was spent while tillwatch was not running, or more than a day ago"))
	}
	return lines
}

func (d *digest) relay(now time.Time, where *time.Location, feed account.FeedState) []dialog.Sentence {
	var lines []dialog.Sentence
	for _, o := range d.outages {
		text := "lost at " + wording.Moment(o.from, now, where)
		if o.to.IsZero() {
			text += ", and not back: changes are found by reading, later than by events"
		} else {
			text += " for " + wording.Age(o.to.Sub(o.from))
		}
		lines = append(lines, dialog.Sentence{Style: paint.Bad, Text: text})
	}
	if d.gaps > 0 {
		lines = append(lines, dialog.Sentence{Style: paint.Bad, Text: wording.Counted(d.gaps, "gap", "gaps") + ": the relay deleted events before they were read here; what they reported is not known"})
	}
	switch {
	case len(lines) > 0:
	case feed == account.FeedOff:
		lines = append(lines, aside("none is configured: what began and ended between two reads is not known"))
	default:
		lines = append(lines, plainSentence("no outage and no gap"))
	}
	if d.why == closed && feed != account.FeedOff {
		lines = append(lines, aside("whether the relay was down while tillwatch was not running is not known"))
	}
	return lines
}
