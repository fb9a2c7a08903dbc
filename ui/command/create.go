package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/config"
)

// createOptions are the fields of a new intent that have flags of their own.
type createOptions struct {
	apiOptions
	reference, buyerFile, payment, tokenFile, maxTotal string
	quantity                                           int
	testBuyer, again                                   bool
}

const createLong = " Its fields come from the JSON object of --body, then from flags, then from field=value, by their path: buyer.firstName=Ada. " +
	"They go to the service as they are, and what it says about one is printed as it says it.\n\n"

func newCreate() *cobra.Command {
	var o createOptions
	command := &cobra.Command{
		Use:   "create [PRODUCT-URL] [field=value…]",
		Short: "Create an intent",
		Long: "Create a checkout intent, and print the JSON that the service answers." + createLong +
			"On anything but a stand-in this spends the account's daily quota: it needs --allow-confirm, and " +
			"where real money may move --live with the last four characters " +
			"of the path, ents. Exit codes are those of tillwatch api.",
		Example: "tillwatch create https://spice-lab.example/products/chili-crisp --test-buyer --reference order-7\n" +
			"tillwatch create --body intent.json quantity=2",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			body, err := o.content(&inputs{ctx: ctx, stdin: std.in}, args)
			if err != nil {
				return nil, err
			}
			return nil, o.run(ctx, s, api.Request{Method: http.MethodPost, Path: intentsPath, Body: body}, std)
		}),
	}
	o.flags(command)
	return command
}

func newPurchase() *cobra.Command {
	var o createOptions
	command := &cobra.Command{
		Use:   "purchase [PRODUCT-URL] [field=value…]",
		Short: "Create an intent and buy it in one step, with real money",
		Long: "Create a checkout intent and buy it in one step, with no question between the offer and the order." + createLong +
			"On anything but a stand-in it needs --allow-confirm and --reference, and where real money may move " +
			"--max-total and --live with the last four characters of the reference. " +
			"It writes to the audit log, then sends one request, with an idempotency key of the reference. A " +
			"reference buys once: while an order of it is made, or its outcome " +
			"is not known, nothing more is sent for it, unless --again is given.\n\n" +
			"Exit codes:\n0  done\n1  failed: the service refused it, or it could not be sent\n2  wrong usage\n" +
			"4  unknown outcome: the answer was lost, now or earlier; tillwatch never resends by itself\n5  " +
			"already bought with this reference",
		Example: "tillwatch purchase https://spice-lab.example/products/chili-crisp --test-buyer --payment drawdown\n" +
			"tillwatch purchase --body order.json --buyer-file - --reference order-7 --max-total 50.00USD " +
			"--allow-confirm --live er-7",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			body, err := o.content(&inputs{ctx: ctx, stdin: std.in}, args)
			if err != nil {
				return nil, err
			}
			return nil, o.purchase(ctx, s, body, std)
		}),
	}
	o.flags(command, "state_dir")
	command.Flags().BoolVar(&o.again, "again", false,
		"send it although an order of this reference was made, or may have been: it may be bought twice")
	return command
}

func newLookup() *cobra.Command {
	var o apiOptions
	command := &cobra.Command{
		Use:   "lookup PRODUCT-URL",
		Short: "Look up a product: price, tax, shipping and variants",
		Long: "Look up the product at a URL, as the service sees it now, and print the JSON that it answers. This counts only against the lookup bucket. " +
			"Exit codes are those of tillwatch api.",
		Example: "tillwatch lookup https://spice-lab.example/products/chili-crisp | jq .price",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			query := url.Values{"url": {args[0]}}
			return nil, o.run(ctx, s, api.Request{Method: http.MethodGet, Path: s.LookupPath, Query: query}, std)
		}),
	}
	config.AddFlags(command.Flags(), "api_url", "insecure_http")
	command.Flags().BoolVar(&o.reveal, "reveal", false, "print the answer as it came")
	return command
}

const intentsPath = "/api/v1/checkout-intents"

func (o *createOptions) flags(command *cobra.Command, more ...string) {
	flags := command.Flags()
	config.AddFlags(flags, append(more, "api_url", "insecure_http", "allow_confirm")...)
	flags.Lookup("allow-confirm").Usage = "allow sending to something other than a stand-in"
	flags.StringVar(&o.body, "body", "", "file with a JSON object of fields, - for stdin")
	flags.StringVar(&o.reference, "reference", "", "your own id of the order")
	flags.IntVar(&o.quantity, "quantity", 1, "how many pieces")
	flags.StringVar(&o.buyerFile, "buyer-file", "",
		"file with a JSON object of the buyer's fields, - for stdin: other users see a command line")
	flags.BoolVar(&o.testBuyer, "test-buyer", false, "a buyer who does not exist")
	flags.StringVar(&o.payment, "payment", "", "the payment: drawdown, or vault_token with its token")
	flags.StringVar(&o.tokenFile, "payment-token-file", "", "file with the token of --payment, - for stdin")
	flags.StringVar(&o.maxTotal, "max-total", "", "the most it may cost in total, with its currency, such as 44.52USD")
	flags.BoolVar(&o.reveal, "reveal", false, "print the answer as it came, with buyers and payment tokens")
	flags.StringVar(&o.live, "live", "",
		"where real money may move: the last four characters of the path, of a purchase those of the reference")
}

// content is the body of the request. Errors repeat no value.
func (o *createOptions) content(in *inputs, args []string) ([]byte, error) {
	body := map[string]any{"quantity": o.quantity}
	if o.body != "" {
		if err := in.object("--body", o.body, &body); err != nil {
			return nil, err
		}
	}
	put := func(name string, value any, given bool) {
		if given {
			body[name] = value
		}
	}
	put("quantity", o.quantity, o.quantity != 1)
	put("referenceId", o.reference, o.reference != "")
	put("buyer", testBuyer(), o.testBuyer)
	if o.buyerFile != "" {
		buyer := map[string]any{}
		if err := in.object("--buyer-file", o.buyerFile, &buyer); err != nil {
			return nil, err
		}
		body["buyer"] = buyer
	}
	if o.payment != "" || o.tokenFile != "" {
		payment := map[string]any{"type": o.payment}
		if o.tokenFile != "" {
			token, err := in.text("--payment-token-file", o.tokenFile)
			if err != nil {
				return nil, err
			}
			payment["vaultToken"] = strings.TrimSpace(string(token))
		}
		body["paymentMethod"] = payment
	}
	if o.maxTotal != "" {
		most, err := api.ParseMoney(o.maxTotal)
		if err != nil {
			return nil, usagef("--max-total: %w", err)
		}
		setField(body, []string{"constraints", "maxTotalPrice"}, json.Number(fmt.Sprint(most.Subunits)))
	}
	if len(args) > 0 && strings.Contains(strings.SplitN(args[0], "=", 2)[0], "://") {
		body["productUrl"], args = args[0], args[1:]
	}
	if err := setFields(body, args); err != nil {
		return nil, usage(err)
	}
	return json.Marshal(body)
}

// testBuyer does not exist: its domain and number are reserved for examples.
func testBuyer() map[string]any {
	return map[string]any{
		"firstName": "Test", "lastName": "Buyer", "email": "test.buyer@example.com", "phone": "212-555-0100",
		"address1": "1 Example Street", "city": "New York", "province": "NY", "postalCode": "10001", "country": "US",
	}
}

// purchase sends the request: to a stand-in as any other, to anything else through the audit log.
func (o *createOptions) purchase(ctx context.Context, s settings, body []byte, std streams) error {
	wanted := confirm.ReadPurchase(body)
	request := api.Request{Method: http.MethodPost, Path: intentsPath + "/purchase", Body: body}
	client, err := serviceClient(s)
	if err != nil {
		return err
	}
	defer client.Close()
	o.guarded = true
	if request.StandIn, err = o.admit(ctx, client, s, request); err != nil {
		return err
	}
	if request.StandIn {
		return o.run(ctx, s, request, std)
	}
	where := client.Environment()
	switch {
	case wanted.Reference == "":
		return usagef("give your own id of the order, as in --reference order-7: it keeps you from buying twice")
	case where.Live && wanted.Most == "":
		return usagef("real money moves here: give the most it may cost, with its currency, as in --max-total 44.52USD")
	case where.Live:
		if err := checkEnd(o.live, string(wanted.Reference), "reference"); err != nil {
			return err
		}
	}
	guard, err := confirm.New(confirm.Config{
		Environments: client.Environments(), AuditFile: s.AuditFile(), Run: fmt.Sprintf("tillwatch purchase, process %d", os.Getpid()),
	})
	if err != nil {
		return purchaseFailure(wanted.Reference, confirm.Outcome{Unsettled: true, Err: fmt.Errorf("in %s: %w", s.StateDir, err)})
	}
	defer guard.Close()
	surviveReaders()
	wanted.Environment, wanted.Request, wanted.Again = where.Name, request, o.again
	answer, out := guard.Purchase(ctx, client, wanted)
	if out.Verdict == confirm.Accepted {
		if err := o.print(std, answer); err != nil {
			return &exitError{exitUnknown, fmt.Errorf("purchased, but not printed: %w", err)}
		}
		return out.Err
	}
	return purchaseFailure(wanted.Reference, out)
}

// purchaseFailure says how an order ended that was not accepted.
func purchaseFailure(reference api.Text, out confirm.Outcome) error {
	find := fmt.Sprintf(". Find out with: tillwatch order %s. If nothing shows what came of it, --again sends it once more, and it may then be bought twice", reference)
	switch {
	case out.Unsettled:
		return &exitError{exitUnknown, fmt.Errorf("nothing was sent this time: %w%s", out.Err, find)}
	case out.Verdict == confirm.Unknown:
		return &exitError{exitUnknown, fmt.Errorf("unknown: it may have been purchased, so it is not sent again: %w%s", out.Err, find)}
	case out.Verdict == confirm.Already:
		return &exitError{exitAlready, fmt.Errorf("nothing was sent: %w. Give another --reference for one more", out.Err)}
	case out.Verdict == confirm.Refused:
		return errors.New(refusal(out.Err))
	}
	return fmt.Errorf("nothing was sent: %w", out.Err)
}

// refusal is a refusal by the service in words, field by field on lines of their own.
func refusal(err error) string {
	refused := new(*api.Error)
	switch {
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized.Error()
	case !errors.As(err, refused):
		return err.Error()
	}
	e := **refused
	e.Fields = nil
	text := "refused: " + e.Error()
	if e.Message != "" && e.Name != "" {
		text += fmt.Sprintf(" (%s)", e.Name)
	}
	for _, f := range (*refused).Fields {
		text += "\n" + string(f.Field) + ": " + string(f.Message)
		if f.Value != "" {
			text += " (it was " + string(f.Value) + ")"
		}
	}
	return text
}
