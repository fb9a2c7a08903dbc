package account

import (
	"slices"

	"tillwatch/api"
)

// The answers read last are kept whole, with their bodies; these bounds apply to all of them together. Older ones
// lose their body and the shipping options that were not selected, until they are read again.
const (
	wholeAnswers = 512
	wholeBodies  = 4 << 20
)

// answers keeps the newest answers whole.
type answers struct {
	list  []*api.Intent // the newest last
	byID  map[api.ID]*api.Intent
	bytes int // of their bodies
}

func newAnswers() answers { return answers{byID: map[api.ID]*api.Intent{}} }

func (a *answers) of(id api.ID) *api.Intent { return a.byID[id] }

// put keeps an answer in place of the previous one of the same intent, and drops the oldest if there are too many.
func (a *answers) put(in *api.Intent) {
	a.drop(in.ID)
	a.list, a.byID[in.ID] = append(a.list, in), in
	a.bytes += len(in.Raw)
	for len(a.list) > wholeAnswers || a.bytes > wholeBodies && len(a.list) > 1 {
		a.drop(a.list[0].ID)
	}
}

func (a *answers) drop(id api.ID) {
	if in := a.of(id); in != nil {
		a.bytes -= len(in.Raw)
		delete(a.byID, id)
		a.list = slices.DeleteFunc(a.list, func(other *api.Intent) bool { return other == in })
	}
}

// lean returns an answer without its body, as it is kept for long.
func lean(in *api.Intent) *api.Intent {
	kept := *in
	kept.Raw = nil
	if in.Offer != nil {
		offer := *in.Offer
		offer.ShippingOptions = nil
		if selected := in.Offer.Selected(); selected != nil {
			offer.ShippingOptions = []api.ShippingOption{*selected}
		}
		kept.Offer = &offer
	}
	return &kept
}
