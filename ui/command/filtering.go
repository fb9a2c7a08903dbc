package command

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/dashboard/pane"
)

// filterBy reads --filter as the board does: a filter, or the name of a saved one.
func filterBy(s settings, read func(text string, kept []dashboard.NamedFilter) (*pane.Filter, string), text string) (*pane.Filter, error) {
	remembered, _ := loadLayout(s.StateDir, s.Theme) // ignores saved filters that cannot be read
	f, wrong := read(text, remembered.layout.Filters)
	if wrong != "" {
		return nil, usagef("filter is %s: %s", config.Shown(text), wrong)
	}
	return f, nil
}

// filtered reduces a picture to the intents that a filter matches, with their
// shipments and alerts. Everything else is the whole account's. A nil filter matches
// all.
func filtered(c account.Changes, f *pane.Filter) account.Changes {
	if f == nil {
		return c
	}
	ids, references := map[api.ID]bool{}, map[api.Text]bool{}
	c.Intents = slices.DeleteFunc(c.Intents, func(in *account.Intent) bool { return !f.FindsIntent(in, c.At) })
	c.Summary.Intents = map[api.IntentState]int{}
	for _, in := range c.Intents {
		ids[in.ID], references[in.ReferenceID] = true, true
		c.Summary.Intents[in.State]++
	}
	delete(c.Summary.Intents, "") // not read, so they may match too
	c.Shipments = slices.DeleteFunc(c.Shipments, func(s *account.Shipment) bool { return !ids[s.IntentID] })
	c.Summary.Shipments = map[api.ShipmentStatus]int{}
	for _, shipment := range c.Shipments {
		c.Summary.Shipments[shipment.Status()]++
	}
	c.Summary.Alerts = slices.DeleteFunc(slices.Clone(c.Summary.Alerts), func(a account.Alert) bool {
		return a.Intent != "" && !ids[a.Intent] || a.Order != "" && !references[a.Order]
	})
	return c
}

// finds reports whether an event matches the filter, if there is one.
func (o *eventsOptions) finds(e *account.Event) bool {
	return o.filter == nil || o.filter.FindsEvent(e, time.Now())
}
