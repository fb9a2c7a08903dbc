package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/config"
)

// orderFlags are the fields of a new intent as flags.
type orderFlags struct {
	file, buyerFile, tokenFile string // "-" for stdin
	quantity                   int
	buyer, variants, promo     []string
	discover, testBuyer        bool
	reference, payment, effort string
	maxTotal, maxShipping      string
}

func (o *orderFlags) flags(flags *pflag.FlagSet) {
	flags.StringVar(&o.file, "body", "", "file with a JSON object to start from, - for stdin; all its fields are sent")
	flags.IntVar(&o.quantity, "quantity", 1, "how many")
	flags.StringArrayVar(&o.buyer, "buyer", nil, "a field of the buyer, as in firstName=Ada (repeatable); other users of this machine can see it while this runs")
	flags.StringVar(&o.buyerFile, "buyer-file", "", "file with the buyer as a JSON object, - for stdin")
	flags.BoolVar(&o.testBuyer, "test-buyer", false, "use a made-up buyer; live environments refuse it")
	flags.StringArrayVar(&o.variants, "variant", nil, "a variant, as in Size=M (repeatable)")
	flags.StringVar(&o.reference, "reference", "", "your own order id, which the service echoes")
	flags.StringArrayVar(&o.promo, "promo-code", nil, "a promo code to try (repeatable)")
	flags.BoolVar(&o.discover, "discover-promo-codes", false, "have the service look for promo codes")
	flags.StringVar(&o.payment, "payment", "", "the payment: drawdown, or vault_token with its token")
	flags.StringVar(&o.tokenFile, "payment-token-file", "", "file with the token of --payment, - for stdin")
	flags.StringVar(&o.maxTotal, "max-total", "", "the most it may cost in total, with its currency, such as 44.52USD")
	flags.StringVar(&o.maxShipping, "max-shipping", "", "the most that shipping may cost, with its currency, such as 5.00USD")
	flags.StringVar(&o.effort, "effort", "", "how hard the service tries to get an offer: max or low")
}

// createBody is the request's content and its bytes.
type createBody struct {
	raw    []byte
	wanted api.Intent // as the service would understand it
	most   *api.Money // of --max-total
	fields map[string]any
	test   bool // the buyer is made up
}

func (b *createBody) has(field string) bool { return b.fields[field] != nil }

// send sends it, to a stand-in only.
func (b *createBody) send(ctx context.Context, client *api.Client, purchase bool) (api.Intent, error) {
	body := api.CreateIntent{Raw: b.raw, StandIn: true}
	if purchase {
		return client.Purchase(ctx, body)
	}
	return client.CreateIntent(ctx, body)
}

// body merges the flags into the file.
func (o *orderFlags) body(c *cobra.Command, args []string) (*createBody, error) {
	in := inputsOf(c)
	b := &createBody{fields: map[string]any{}, test: o.testBuyer}
	if o.file != "" {
		if err := in.object("--body", o.file, &b.fields); err != nil {
			return nil, err
		}
	}
	given := c.Flags().Changed
	if len(args) == 1 {
		b.fields["productUrl"] = args[0]
	}
	if given("quantity") || !b.has("quantity") {
		b.fields["quantity"] = o.quantity
	}
	// The service refuses a quantity that is not a number.
	if n, err := strconv.ParseFloat(fmt.Sprint(b.fields["quantity"]), 64); !errors.Is(err, strconv.ErrSyntax) && n < 1 {
		return nil, usagef("the quantity is %v; it must be 1 or more", n)
	}
	if given("discover-promo-codes") {
		b.fields["discoverPromoCodes"] = o.discover
	}
	if o.reference != "" {
		b.fields["referenceId"] = o.reference
	}
	if len(o.promo) > 0 {
		b.fields["promoCodes"] = o.promo
	}
	for _, part := range []func(*createBody, *inputs) error{o.putBuyer, o.putVariants, o.putPayment, o.putConstraints} {
		if err := part(b, in); err != nil {
			return nil, err
		}
	}
	var err error
	if b.raw, err = json.Marshal(b.fields); err != nil {
		return nil, err
	}
	// Decoded like an answer, so that both compare in the same form.
	b.wanted, err = api.DecodeIntent(append([]byte(`{"id":"new",`), b.raw[1:]...))
	return b, err
}

func (o *orderFlags) putBuyer(b *createBody, in *inputs) error {
	buyer, _ := b.fields["buyer"].(map[string]any)
	if o.testBuyer {
		buyer = testBuyer()
	} else if buyer == nil {
		buyer = map[string]any{}
	}
	if o.buyerFile != "" {
		if err := in.object("--buyer-file", o.buyerFile, &buyer); err != nil {
			return err
		}
	}
	for _, field := range o.buyer {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return usagef("--buyer needs a field and its value, as in --buyer firstName=Ada")
		}
		buyer[name] = value
	}
	if len(buyer) > 0 {
		b.fields["buyer"] = buyer
	}
	return nil
}

// testBuyer does not exist: its domain and number are reserved for examples.
func testBuyer() map[string]any {
	return map[string]any{
		"firstName": "Test", "lastName": "Buyer", "email": "test.buyer@example.com", "phone": "212-555-0100",
		"address1": "1 Example Street", "city": "New York", "province": "NY", "postalCode": "10001", "country": "US",
	}
}

func (o *orderFlags) putVariants(b *createBody, _ *inputs) error {
	var all []map[string]string
	for _, one := range o.variants {
		label, value, ok := strings.Cut(one, "=")
		if !ok || label == "" {
			return usagef("--variant is %s; it must be a label and a value, as in Size=M", config.Shown(one))
		}
		all = append(all, map[string]string{"label": label, "value": value})
	}
	if len(all) > 0 {
		b.fields["variantSelections"] = all
	}
	return nil
}

func (o *orderFlags) putPayment(b *createBody, in *inputs) error {
	switch {
	case o.payment == "" && o.tokenFile != "":
		return usagef("--payment-token-file goes with --payment, such as vault_token")
	case o.payment == "":
		return nil
	}
	method := api.PaymentMethod{Type: api.PaymentType(o.payment)}
	if o.tokenFile != "" {
		text, err := in.text("--payment-token-file", o.tokenFile)
		if err != nil {
			return err
		}
		method.Token = api.NewSecret(strings.TrimSpace(string(text)))
	}
	fields, err := method.Fields()
	if err != nil {
		return usage(err)
	}
	b.fields["paymentMethod"] = fields
	return nil
}

func (o *orderFlags) putConstraints(b *createBody, _ *inputs) error {
	limits, _ := b.fields["constraints"].(map[string]any)
	if limits == nil {
		limits = map[string]any{}
	}
	for _, limit := range []struct{ flag, text, field string }{{"max-total", o.maxTotal, "maxTotalPrice"}, {"max-shipping", o.maxShipping, "maxShippingPrice"}} {
		if limit.text == "" {
			continue
		}
		most, err := api.ParseMoney(limit.text)
		if err != nil {
			return usagef("--%s: %w", limit.flag, err)
		}
		if most.Subunits < 0 || most.Subunits > math.MaxInt32 {
			return usagef("--%s is %s; it must be from 0 to %s", limit.flag, most, api.Money{Currency: most.Currency, Subunits: math.MaxInt32})
		}
		if b.most != nil && b.most.Currency != most.Currency {
			return usagef("--max-total is in %s, --max-shipping in %s, and the service takes only a number", b.most.Currency, most.Currency)
		}
		if limits[limit.field] = most.Subunits; limit.flag == "max-total" {
			b.most = &most
		}
	}
	if o.effort != "" {
		limits["offerRetrievalEffort"] = o.effort
	}
	if len(limits) > 0 {
		b.fields["constraints"] = limits
	}
	return nil
}
