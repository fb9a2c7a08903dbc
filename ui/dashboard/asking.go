package dashboard

import (
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// asker starts requests: reading again, trying the API key, reconnecting the relay.
type asker struct {
	*shared
	asked api.ID    // the intent that a person asked for last; "" once it was read
	at    time.Time // when
}

// ask runs do outside Update.
func ask(do func()) tea.Cmd {
	return func() tea.Msg {
		do()
		return nil
	}
}

// read reads an intent.
func (a *asker) read(id api.ID) tea.Cmd {
	a.asked, a.at = id, time.Now()
	return ask(func() { a.cfg.Refresh(id) })
}

// follow says that the read asked for last failed, until it succeeds.
func (a *asker) follow(requests []api.Exchange) {
	for i := range requests {
		e, id := &requests[i], a.asked
		switch {
		case id == "" || e.By != "" || e.Priority != quota.Person || e.Sent.Before(a.at) || !strings.HasSuffix(e.Path, "/"+url.PathEscape(string(id))):
		case e.Err == nil:
			a.asked = ""
		default:
			why := strings.TrimPrefix(e.Err.Error(), e.Method+" "+e.Path+": ")
			a.notices.sayWhile(func() bool { return a.asked == id }, warning, "reading "+string(id)+" failed: "+why)
		}
	}
}

// refused reports whether the service refuses the API key.
func (a *asker) refused() bool { return a.picture.summary.API.State == account.APIUnauthorized }

// limited reports whether the API key may not read shipments.
func (a *asker) limited() bool { return a.picture.summary.ShipmentList.State == account.ListForbidden }

// triesKey reports whether an API key that is refused or limited can be tried again.
func (a *asker) triesKey() bool { return (a.refused() || a.limited()) && a.cfg.TryKey != nil }

// tryKey rereads the API key from its file and tries it now.
func (a *asker) tryKey() tea.Cmd {
	a.notices.sayWhile(func() bool { return a.refused() || a.limited() }, plain, "trying the API key again")
	return ask(a.cfg.TryKey)
}

// reconnect reconnects to a lost relay now.
func (a *asker) reconnect() tea.Cmd {
	lost := func() bool { return a.picture.summary.Feed.State == account.FeedLost }
	a.notices.sayWhile(lost, plain, "reconnecting to the relay")
	return ask(a.cfg.Reconnect)
}

// reconnectDisabled says why there is nothing to reconnect to.
func (a *asker) reconnectDisabled() string {
	switch a.picture.summary.Feed.State {
	case account.FeedLost:
		if a.cfg.Reconnect == nil {
			return "there is no relay to reconnect to"
		}
		return ""
	case account.FeedConnecting:
		return "already connecting to the relay"
	case account.FeedReplaying, account.FeedLive:
		return "the relay is connected already"
	case account.FeedRefused:
		return "the relay refuses the token: set the right one and start again"
	}
	return "no relay is configured"
}

// readAgain reads the intent under the cursor and tries a limited API key. While the key is refused or there is no
// intent, it only tries the key.
func (a *asker) readAgain() tea.Cmd {
	var try tea.Cmd
	if a.triesKey() {
		try = ask(a.cfg.TryKey)
	}
	in, ok := a.board.intentUnder()
	if try != nil && (!ok || a.refused()) {
		return a.tryKey()
	}
	if !ok {
		return nil
	}
	a.notices.say(plain, "reading "+string(in.ID)+" again")
	return tea.Batch(a.read(in.ID), try)
}

// readDisabled says why no intent can be read now; "" if one can.
func (a *asker) readDisabled() string {
	switch _, ok := a.board.intentUnder(); {
	case a.triesKey():
	case a.cfg.Refresh == nil:
		return "nothing can be read here"
	case !ok:
		return "no intent under the cursor"
	}
	return ""
}
