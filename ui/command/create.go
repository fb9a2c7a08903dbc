package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/session"
)

type createOptions struct {
	purchase bool
	asked    orderFlags
	live     string
	another  bool
	again    bool
	dryRun   bool
	json     bool
}

const createCodes = "\n\nExit codes:\n" +
	"0  done\n" +
	"1  failed: the service refused it, or it could not be sent\n" +
	"2  wrong usage\n" +
	"3  not sent: the product is not what you gave\n" +
	"4  unknown outcome: the answer was lost; tillwatch never resends by itself\n" +
	"5  already made: an intent with the same reference has not failed"

func newCreate() *cobra.Command {
	return creating(createOptions{}, &cobra.Command{
		Use:   "create [PRODUCT-URL]",
		Short: "Create an intent",
		Long: "Create a checkout intent. Its fields come from flags, which win, and from the JSON object of --body. " +
			"On anything but a stand-in this spends the account's daily quota, so it needs --allow-confirm and goes into the audit log first." + createCodes,
		Example: "tillwatch create https://spice-lab.example/products/chili-crisp --test-buyer --reference order-7\n" +
			"tillwatch create --body intent.json --dry-run",
	})
}

func newPurchase() *cobra.Command {
	return creating(createOptions{purchase: true}, &cobra.Command{
		Use:   "purchase [PRODUCT-URL]",
		Short: "Create an intent and buy it in one step, with real money",
		Long: "Create a checkout intent and buy it in one step, with no question between the offer and the order. Its fields come from flags, which win, and from the JSON object of --body.\n\n" +
			"On anything but a stand-in it has the guards of tillwatch confirm: --allow-confirm; --max-total, the price limit sent to the service; --reference, " +
			"which identifies it later; and where real money may move, --live with the last four characters of the reference. The command looks the product up, shows its price, " +
			"writes to the audit log, and sends one request. If the answer is lost and the service lists its intents, reads settle the outcome within two minutes, or half a minute more if they fail." + createCodes,
		Example: "tillwatch purchase https://spice-lab.example/products/chili-crisp --test-buyer --payment drawdown\n" +
			"tillwatch purchase --body order.json --buyer-file - --reference order-7 --max-total 50.00USD --allow-confirm --live er-7",
	})
}

// creating completes both commands with their arguments, run function and flags.
func creating(o createOptions, command *cobra.Command) *cobra.Command {
	command.Args = argument("", "give one product: an intent has one URL; for an order of several, make one intent each with the same --reference, all but the first with --another-item")
	command.RunE = configured(func(c *cobra.Command, s settings, args []string) error {
		body, err := o.asked.body(c, args)
		if err != nil {
			return err
		}
		return runCreate(c.Context(), s, o, body, c.OutOrStdout(), c.ErrOrStderr())
	})
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http", "state_dir", "allow_confirm")
	flags.Lookup("allow-confirm").Usage = "allow sending to something other than a stand-in"
	o.asked.flags(flags)
	if o.purchase {
		flags.StringVar(&o.live, "live", "", "where real money may move: the last four characters of the reference")
	}
	flags.BoolVar(&o.another, "another-item", false, "add one more item to the order with this reference")
	flags.BoolVar(&o.again, "again", false, "send it although the answer to the same request was lost: it may be made twice")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the request, masked, and send nothing")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

// check refuses what can be refused before anything is sent to the real service.
func (o createOptions) check(armed bool, where api.Environment, body *createBody) error {
	reference := string(body.wanted.ReferenceID)
	spends := "the account's daily quota"
	if o.purchase {
		spends = "money"
	}
	var missing []error
	need := func(fails bool, format string, args ...any) {
		if fails {
			missing = append(missing, usagef(format, args...))
		}
	}
	need(body.wanted.Quantity == 0, "the quantity must be a whole number, 1 or more")
	need(!armed, "read-only: this is not a stand-in, and it spends %s: give --allow-confirm, set allow_confirm in the profile, or try it with --dry-run", spends)
	need(body.test && where.Live, "real money moves here, so the test buyer is refused: give --buyer-file")
	if o.purchase {
		need(body.most == nil, "give the most it may cost, with its currency, as in --max-total 44.52USD")
		need(reference == "", "give your own order id, as in --reference order-7: it settles a lost answer and keeps you from buying twice")
	}
	switch short := utf8.RuneCountInString(reference) < 4; {
	case !o.purchase || !where.Live:
	case short && reference != "":
		need(true, "real money moves here: give a --reference of four characters or more, whose last four --live must hold")
	case !short || o.live == "":
		missing = append(missing, checkEnd(o.live, reference, "reference"))
	}
	return errors.Join(missing...)
}

func runCreate(ctx context.Context, s settings, o createOptions, body *createBody, stdout, stderr io.Writer) error {
	if o.purchase && !body.has("paymentMethod") {
		return usagef("how is it paid for? give --payment drawdown, --payment vault_token with --payment-token-file, or paymentMethod in --body")
	}
	path := "/api/v1/checkout-intents"
	if o.purchase {
		path += "/purchase"
	}
	if o.dryRun {
		return printRequest(stdout, s, http.MethodPost, path, body.raw, o.json)
	}
	if body.wanted.ProductURL == "" {
		return usagef("which product? give its URL, or productUrl in --body")
	}
	current, err := session.New(s, session.Options{})
	if err != nil {
		return err
	}
	defer current.Close()
	if where := current.Client.Environment(); where.Known() {
		if err := o.check(s.AllowConfirm, where, body); err != nil {
			return err
		}
	}
	r := newCreateReport(current, o.purchase, body)
	where, err := r.lookUp(ctx, current.Client, stderr)
	if err != nil {
		return err
	}
	if where.StandIn {
		r.sent(body.send(ctx, current.Client, o.purchase))
		return r.print(stdout, o.json, r)
	}
	if err := o.check(s.AllowConfirm, where, body); err != nil {
		return err
	}
	if err := current.Arm("create"); err != nil {
		r.ended(*confirm.Unlogged(s.AuditFile(), "", err))
	} else {
		current.Warn(stderr)
		r.guarded(ctx, current, where, o, stderr)
	}
	return r.print(stdout, o.json, r)
}

// lookUp finds out which environment answers, and what a purchase would buy there. It
// fails only if the environment cannot be determined.
func (r *createReport) lookUp(ctx context.Context, client *api.Client, stderr io.Writer) (api.Environment, error) {
	where := client.Environment()
	if where.Known() && !r.purchase {
		return where, nil
	}
	product, err := client.LookupProduct(ctx, string(r.body.wanted.ProductURL))
	where = client.Environment()
	guarded := r.purchase && where.Known() && !where.StandIn
	switch {
	case errors.Is(err, api.ErrUnauthorized) && !guarded:
		return where, errUnauthorized
	case !where.Known():
		return where, fmt.Errorf("nothing was sent: cannot determine the environment: %w", err)
	}
	r.Environment, r.Live = where.Name, where.Live
	if guarded {
		r.why = r.checkPrice(product, err, stderr)
	}
	return where, nil
}

// checkPrice shows the product and compares its price with --max-total.
func (r *createReport) checkPrice(product api.Product, err error, stderr io.Writer) error {
	most, n := r.body.most, r.body.wanted.Quantity
	const none = "the lookup has no price to compare with --max-total"
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", none, err)
	case product.Price == nil:
		return errors.New(none)
	}
	fmt.Fprintf(stderr, "%s\n", api.Scrub(fmt.Sprintf("%d × %s at %s, before tax and shipping, in %s", n, product.Name, product.Price.Readable(), r.Environment)))
	price := *product.Price
	switch {
	case most == nil: // refused by the check
	case price.Currency != most.Currency:
		return fmt.Errorf("the price is in %s, --max-total in %s, and the service takes only a number", price.Currency, most.Currency)
	case n > 0 && price.Subunits > most.Subunits/int64(n):
		return fmt.Errorf("%d × %s is more than --max-total, %s", n, price.Readable(), most.Readable())
	}
	return nil
}

// guarded creates the intent with the guards of a confirm.
func (r *createReport) guarded(ctx context.Context, s *session.Session, where api.Environment, o createOptions, stderr io.Writer) {
	c := confirm.Creation{Environment: where.Name, Purchase: r.purchase, Wanted: r.body.wanted, Another: o.another, Again: o.again, Why: r.why, Body: api.CreateIntent{Raw: r.body.raw}}
	if r.body.most != nil {
		c.Most = "at most " + r.body.most.String()
	}
	surviveReaders()
	out := s.Guard.Create(ctx, s.Client, c, reportSettling(stderr, "the list of intents"))
	r.ended(out)
	if r.why != nil && errors.Is(out.Err, r.why) {
		r.ExitCode = exitNotConfirmable
	}
}
