package session

import (
	"context"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
)

// confirms tells the picture what the audit log says, whoever writes it: this run, an earlier one, or another.
type confirms struct {
	history     *confirm.History
	environment func() api.Environment // that answers
	ownRun      string                 // as this run is named in the log; "" if it confirms nothing
	record      func([]account.Confirm)
	woken       chan struct{}
	told        []account.Confirm
}

func newConfirms(history *confirm.History, environment func() api.Environment, record func([]account.Confirm)) *confirms {
	return &confirms{history: history, environment: environment, record: record, woken: make(chan struct{}, 1)}
}

// changed says that the log has a new line. It does not block.
func (f *confirms) changed() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// standInName is what the audit log calls a stand-in.
const standInName = "simulator"

// followConfirmsEvery is how soon a line that another process wrote is told.
const followConfirmsEvery = 2 * time.Second

// run tells what changes until ctx ends.
func (f *confirms) run(ctx context.Context) error {
	again := time.NewTicker(followConfirmsEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.woken:
		case <-again.C:
		}
		f.tell()
	}
}

// tell tells what the log says now, if that is new.
func (f *confirms) tell() {
	var all []account.Confirm
	where := f.environment()
	for _, a := range f.history.Read() {
		// Another address may lead to the same service, but never from a stand-in to the real one.
		told := slices.ContainsFunc(f.told, func(c account.Confirm) bool { return c.Attempt == a.Sent.Attempt })
		if toStandIn := a.Sent.Environment == standInName; told || !where.Known() || where.StandIn == toStandIn {
			all = append(all, f.confirm(&a))
		}
	}
	if len(all)+len(f.told) > 0 && !slices.Equal(all, f.told) {
		f.told = all
		f.record(all)
	}
}

func (f *confirms) confirm(a *confirm.Attempt) account.Confirm {
	return account.Confirm{
		Attempt: a.Sent.Attempt, Intent: a.Sent.Intent, Where: api.Scrub(a.Sent.Environment), Run: api.Scrub(a.Sent.Run),
		Own: f.ownRun != "" && a.Sent.Run == f.ownRun, Product: a.Sent.Product, Total: a.Sent.Total, Sent: a.Sent.At,
		By: a.Answered.By, ByOther: a.Ended.Verdict != "" && a.Ended.Run != a.Sent.Run,
		Answered: a.Answered.At, Answer: api.Scrub(a.Answered.Detail), Agreed: a.Answered.Agreed,
		Ended: a.Ended.At, End: endOf(a.Ended), Detail: api.Scrub(a.Ended.Detail),
	}
}

// endOf is the outcome that a line with a verdict records; "" for none.
func endOf(line confirm.Line) account.ConfirmEnd {
	failed := line.State == api.Failed
	switch line.Verdict {
	case "":
		return ""
	case confirm.Accepted, confirm.Overtaken, confirm.Already:
		if failed {
			return account.ConfirmFailed
		}
		return account.ConfirmPlaced
	case confirm.NotTaken:
		return account.ConfirmNotDone
	case confirm.NotConfirmable:
		if failed {
			return account.ConfirmExpired
		}
		return account.ConfirmRefused
	case confirm.Refused:
		return account.ConfirmRefused
	case confirm.NotSent, confirm.Changed:
		return account.ConfirmNotSent
	}
	return account.ConfirmLost
}
