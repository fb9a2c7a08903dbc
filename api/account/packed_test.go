package account

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// drawRead draws anything that a read may hold, as far as it is kept for long.
func drawRead(t *rapid.T) *savedRead {
	text := rapid.StringMatching(`[ -~é–]{0,12}`)
	moment := rapid.Custom(func(t *rapid.T) instant {
		return instant(rapid.Int64Range(-1<<60, 1<<60).Draw(t, "moment"))
	})
	money := rapid.Custom(func(t *rapid.T) *savedMoney {
		if rapid.Bool().Draw(t, "absent") {
			return nil
		}
		return &savedMoney{rapid.SampledFrom([]string{"", "USD", "JPY"}).Draw(t, "currency"), rapid.Int64().Draw(t, "subunits")}
	})
	read := &savedRead{
		State:     rapid.OneOf(rapid.SampledFrom(packedWords[:]), text).Draw(t, "state"),
		CreatedAt: moment.Draw(t, "created"), ProductURL: text.Draw(t, "url"), Quantity: rapid.IntRange(0, 1<<40).Draw(t, "quantity"),
		ReferenceID: text.Draw(t, "reference"), PaymentType: rapid.SampledFrom([]string{"", "vault_token", "odd"}).Draw(t, "payment"),
		FailureCode: text.Draw(t, "code"), Failure: text.Draw(t, "failure"), OrderIDs: drawTexts(t, text),
	}
	for _, label := range drawTexts(t, text) {
		read.Variants = append(read.Variants, savedVariant{label, text.Draw(t, "value")})
	}
	if rapid.Bool().Draw(t, "limits") {
		read.Limits = &savedLimits{rapid.Int64Range(0, 1<<50).Draw(t, "total"), rapid.Int64Range(0, 1<<50).Draw(t, "shipping")}
	}
	if rapid.Bool().Draw(t, "offer") {
		read.Offer = &savedOffer{
			ProductTitle: text.Draw(t, "title"),
			Subtotal:     money.Draw(t, "a"), Shipping: money.Draw(t, "b"), Tax: money.Draw(t, "c"),
			Discount: money.Draw(t, "d"), Surcharge: money.Draw(t, "e"), Total: money.Draw(t, "f"), PromoCodes: drawTexts(t, text),
		}
		if rapid.Bool().Draw(t, "selected") {
			read.Offer.Selected = &savedOption{
				ID: text.Draw(t, "option"), Cost: money.Draw(t, "g"), Discount: money.Draw(t, "h"),
				Earliest: moment.Draw(t, "earliest"), Latest: moment.Draw(t, "latest"),
			}
		}
	}
	return read
}

func drawTexts(t *rapid.T, text *rapid.Generator[string]) []string {
	list := rapid.SliceOfN(text, 0, 3).Draw(t, "texts")
	if len(list) == 0 {
		return nil
	}
	return list
}

func TestPackedReadTellsWhatWasPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := drawRead(t)
		packed := packRead(read)
		got, want := unpackRead(packed, "ci_1"), read.intent("ci_1")
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("unpacked %+v, want %+v", got, want)
		}
		quantity, reference, failure := packedHead(packed)
		if quantity != want.Quantity || reference != want.ReferenceID || !reflect.DeepEqual(failure, want.Failure) {
			t.Fatalf("a list shows %d, %q and %v of %+v", quantity, reference, failure, want)
		}
	})
}

func FuzzUnpackRead(f *testing.F) {
	f.Add(packRead(savedReadOf(&api.Intent{ID: "ci_1", State: api.Completed, Quantity: 2, OrderIDs: []api.Text{"A-1"}})))
	f.Add("\x01\x00\x00\x00\x05")
	f.Fuzz(func(t *testing.T, packed string) {
		if len(packed) > 1<<12 {
			return
		}
		in := unpackRead(packed, "ci_1")
		if quantity, reference, _ := packedHead(packed); quantity != in.Quantity || reference != in.ReferenceID {
			t.Fatalf("a list shows %d and %q, the whole %d and %q", quantity, reference, in.Quantity, in.ReferenceID)
		}
	})
}
