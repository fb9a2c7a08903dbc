package timeline

import (
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestSentencesSayWhatMomentsTell(t *testing.T) {
	total := &api.Money{Currency: "USD", Subunits: 4452}
	for want, m := range map[string]account.Moment{
		"offer retrieved":                                       {What: account.EventTold, Type: api.OfferRetrieved, From: api.RetrievingOffer, To: api.AwaitingConfirmation},
		"offer retrieved, late: already completed":              {What: account.EventTold, Type: api.OfferRetrieved, From: api.Completed, To: api.AwaitingConfirmation, Late: true},
		"completed, already failed":                             {What: account.EventTold, Type: api.IntentCompleted, From: api.Failed, To: api.Completed},
		"order failed":                                          {What: account.EventTold, Type: api.OrderFailed, From: api.Failed, To: api.Failed},
		"offer failed":                                          {What: account.EventTold, Type: api.OfferFailed},
		"event of an unknown type: checkout_intent.moved":       {What: account.EventTold, Type: "checkout_intent.moved"},
		"event of an unknown type: a[31mb":                      {What: account.EventTold, Type: "a\x1b[31mb"},
		"shipment created":                                      {What: account.ShipmentTold, Type: api.ShipmentCreated},
		"shipment updated":                                      {What: account.ShipmentTold, Type: api.ShipmentUpdated},
		"shipment event of an unknown type: shipment.moved":     {What: account.ShipmentTold, Type: "shipment.moved"},
		"read: awaiting confirmation, 44.52 USD":                {What: account.ReadShowed, To: api.AwaitingConfirmation, Total: total},
		"read: failed, out of stock":                            {What: account.ReadShowed, To: api.Failed, Failure: "product_out_of_stock", Total: total},
		"read: no state":                                        {What: account.ReadShowed},
		"confirm accepted: placing order, 44.52 USD":            {What: account.ConfirmTaken, To: api.PlacingOrder, Total: total},
		"confirm sent":                                          {What: account.ConfirmSent},
		"confirm sent by watch, process 7":                      {What: account.ConfirmSent, Who: "watch, process 7"},
		"the confirm's outcome is unknown: 500":                 {What: account.ConfirmOpen, Words: "500"},
		"the confirm is settled: not taken: nothing was bought": {What: account.ConfirmEnded, Words: "not taken"},
		"the confirm is settled: taken: the order is placed, or being placed": {What: account.ConfirmEnded, Words: "placed"},
		"the confirm is settled: from the future":                             {What: account.ConfirmEnded, Words: "from the\x1b future"},
		"unchanged (1 read)":                                    {What: account.Unchanged, Count: 1},
		"unchanged (37 reads)":                                  {What: account.Unchanged, Count: 37},
		"unchanged":                                             {What: account.Unchanged},
		"read: not found in this environment":                   {What: account.NotFound},
		"no event reported the state completed":                 {What: account.EventMissed, To: api.Completed},
		"no event reported that a shipment is out for delivery": {What: account.ShipmentQuiet, Status: api.OutForDelivery},
		"no event reported the shipment":                        {What: account.ShipmentQuiet},
		"… 1 older entry is no longer kept":                     {What: account.LetGo, Count: 1},
		"… 12 older entries are no longer kept":                 {What: account.LetGo, Count: 12},
		"unknown kind of entry: from the future":                {What: "from_the_future"},
	} {
		if got := Sentence(&m); got != want {
			t.Errorf("%+v reads %q, want %q", m, got, want)
		}
	}
}
