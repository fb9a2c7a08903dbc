package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
)

// triggering is an event to make happen or to send.
type triggering struct {
	list, json         bool
	set                []string
	body, to           string
	product, reference string // of something new in the stand-in
	failure            string

	kind      simulator.EventKind // zero with --body
	overrides []override          // of --set
	own       []byte              // with --body; nil: none
}

func newTrigger() *cobra.Command {
	var t triggering
	command := &cobra.Command{
		Use:   "trigger TYPE",
		Short: "Make an event happen in a stand-in, or send one to an endpoint",
		Long: "Make an event of the contract happen. In the configured stand-in, what the event reports really happens, to the source in --set source.id or to " +
			"a new one: checkout_intent.completed makes an intent and completes it. The stand-in delivers its own event, and its state agrees with it. " +
			"With --to, a body in the contract's shape goes to any endpoint, with the four headers, signed with TILLWATCH_SIGNING_SECRET.\n\n" +
			"--set changes a field of the body, by its path: --set data.price=1299 (cents), --set source.id=ci_…, --set data.images.0.url=X; a value that is not JSON is a string. " +
			"--body sends your own body, byte for byte unless --set changes it.\n\n" +
			"Exit codes: 0 the answer was 200 within 5 seconds; 1 it was not; 2 wrong usage, or not a stand-in.",
		Example: "tillwatch trigger checkout_intent.completed --reference order-7\n" +
			"tillwatch trigger checkout_intent.order_failed --set source.id=ci_779d1ba1900f41e1ace4536c64382ed7 --failure payment_failed\n" +
			"tillwatch trigger product.updated --set data.price=1299 --to http://127.0.0.1:3000/webhooks",
		Args: argument("", "give one type: leave out the others"),
		RunE: func(c *cobra.Command, args []string) error {
			if t.list {
				return listTypes(c.OutOrStdout(), t.json)
			}
			s, err := settingsOf(c)
			if err != nil {
				return err
			}
			if err := t.parse(args); err != nil {
				return usage(err)
			}
			if t.body != "" {
				if t.own, err = inputsOf(c).read("--body", t.body); err != nil {
					return err
				}
			}
			run := t.happen
			if t.to != "" {
				run = t.send
			}
			return run(c.Context(), s, c.OutOrStdout(), c.ErrOrStderr())
		},
		ValidArgsFunction: completeTypes,
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http")
	flags.BoolVar(&t.list, "list", false, "list the types with their meaning and source")
	flags.StringArrayVar(&t.set, "set", nil, "a field of the body and its value, such as data.price=1299 (repeatable)")
	flags.StringVar(&t.body, "body", "", "file with your own body, or - for stdin; needs --to")
	flags.StringVar(&t.to, "to", "", "endpoint to send the event to, such as http://127.0.0.1:3000/webhooks (default: into the stand-in)")
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.StringVar(&t.product, "product", "", "in the stand-in: URL of a new intent's product, or of the product to change")
	flags.StringVar(&t.reference, "reference", "", "in the stand-in: reference of a new intent")
	flags.StringVar(&t.failure, "failure", "", "in the stand-in: code of the failure, such as payment_failed")
	flags.BoolVar(&t.json, "json", false, "print one JSON object per delivery")
	return command
}

func completeTypes(_ *cobra.Command, args []string, _ string) (names []string, d cobra.ShellCompDirective) {
	for _, t := range simulator.EventKinds() {
		if len(args) == 0 {
			names = append(names, string(t.Type)+"\t"+t.Means)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func listTypes(stdout io.Writer, asJSON bool) error {
	for _, t := range simulator.EventKinds() {
		if err := printed(stdout, asJSON, t, fmt.Sprintf("%-40s %s; its source is %s\n", t.Type, t.Means, t.Needs)); err != nil {
			return err
		}
	}
	return nil
}

// parse checks everything that can be checked before anything is sent.
func (t *triggering) parse(args []string) error {
	switch {
	case t.body != "" && len(args) > 0:
		return fmt.Errorf("--body has its own type: leave out %s", api.Scrub(args[0]))
	case t.body != "" && t.to == "":
		return fmt.Errorf("--body needs --to: the stand-in delivers only its own events")
	case t.body == "" && len(args) == 0:
		return fmt.Errorf("which event? give its type, such as checkout_intent.completed (tillwatch trigger --list)")
	case t.to != "" && t.product+t.reference+t.failure != "":
		return fmt.Errorf("--product, --reference and --failure are for the stand-in: change the body with --set, or leave out --to")
	}
	if err := t.parseType(args); err != nil {
		return err
	}
	if codes := simulator.FailureCodes(); t.failure != "" && !slices.Contains(codes, api.FailureCode(t.failure)) {
		return fmt.Errorf("--failure is %.60q; it must be one of %s", t.failure, strings.Join(asStrings(codes), ", "))
	}
	for _, text := range t.set {
		one, err := parseOverride(text)
		if err != nil {
			return err
		}
		t.overrides = append(t.overrides, one)
	}
	return nil
}

// parseType reads the type of a stand-in's event, and refuses flags that do not apply to it.
func (t *triggering) parseType(args []string) (err error) {
	if len(args) == 0 {
		return nil
	}
	if t.kind, err = typeOf(args[0]); err != nil {
		return err
	}
	group, _, _ := strings.Cut(args[0], ".")
	source := api.SourceType(group)
	switch {
	case t.reference != "" && source != api.SourceIntent && source != api.SourceShipment:
		return fmt.Errorf("--reference is for a new intent, and %s has none: leave it out", args[0])
	case t.product != "" && source == api.SourceWebhookEndpoint:
		return fmt.Errorf("--product is for an intent or a product, and %s has neither: leave it out", args[0])
	case t.failure != "" && t.kind.Type != api.OfferFailed && t.kind.Type != api.OrderFailed:
		return fmt.Errorf("--failure is for %s and %s, not for %s: leave it out", api.OfferFailed, api.OrderFailed, args[0])
	}
	return nil
}

// event is the event to send.
func (t *triggering) event() (api.Event, error) {
	body, err := t.own, error(nil)
	if body == nil {
		source := ""
		for _, o := range t.overrides {
			if o.String() == "source.id" {
				source = o.text()
			}
		}
		body = t.kind.Sample(source, time.Now())
	}
	for _, o := range t.overrides {
		if body, err = o.apply(body, t.kind.Type == api.ProductUpdated); err != nil {
			return api.Event{}, err
		}
	}
	event, err := eventIn(body)
	if err != nil && t.own == nil {
		return event, fmt.Errorf("the body is not an event: %w", err)
	}
	return event, nil
}

// send sends the event to an endpoint like the service.
func (t *triggering) send(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	if err := forward.CheckTarget(t.to); err != nil {
		return usagef("--to: %w", err)
	}
	event, err := t.event()
	if err != nil {
		return usage(err)
	}
	sender, err := senderOptions{}.sender(s, stderr)
	if err != nil {
		return err
	}
	warnOfEmptyHeaders(event, s.HeaderPrefix, stderr)
	d := delivery.Delivery{Target: forward.Shown(t.to), Event: event.ID, Type: event.Type, Source: event.Source.ID}
	d = sender.Send(ctx, t.to, relay.Item{Event: event}, d)
	if d.State == delivery.Delivered && event.Type == api.VerificationChallenge && !delivery.AnswersChallenge(d.Answer.Body, string(event.Source.ID)) {
		d.State, d.Error = delivery.Dead, "the answer is not {\"challenge\": source.id}"
	}
	if d.State == delivery.Waiting {
		d.State = delivery.Dead // nobody retries
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return printTriggered(stdout, t.json, event.Raw, []delivery.Delivery{d})
}

// happening is the request to the stand-in; only some overrides apply there.
func (t *triggering) happening() (map[string]any, error) {
	asked := map[string]any{"type": t.kind.Type, "productUrl": t.product, "referenceId": t.reference, "failure": t.failure}
	for _, o := range t.overrides {
		switch o.String() {
		case "source.id":
			asked["source"] = o.text()
		case "data.url":
			asked["productUrl"] = o.text()
		case "data.availability":
			asked["availability"] = o.text()
		case "data.price", "data.price.amountSubunits":
			asked["price"] = json.RawMessage(o.value)
		default:
			return nil, fmt.Errorf("--set %s: the stand-in makes its own events, and takes only source.id, data.price, data.availability and data.url; to send any other body give --to", o)
		}
	}
	return asked, nil
}

// happen makes the stand-in do what the event reports, and prints its endpoints'
// answers.
func (t *triggering) happen(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	if s.APIURL == "" {
		return usagef("where to? give --to with an endpoint, or --api-url with a stand-in's address (tillwatch simulate)")
	}
	asked, err := t.happening()
	if err != nil {
		return usage(err)
	}
	client, err := standInClient(s)
	if err != nil {
		return err
	}
	defer client.Close()
	var event json.RawMessage
	if err := client.Control(ctx, http.MethodPost, "/control/events", asked, &event); err != nil {
		return onStandIn(err)
	}
	decoded, err := api.DecodeEvent(event)
	if err != nil {
		return err
	}
	all, err := deliveriesOf(ctx, client, decoded.ID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(stderr, "It was not delivered: the stand-in has no endpoint that answered its challenge (tillwatch simulate --webhook-url).")
	}
	return printTriggered(stdout, t.json, event, all)
}

// standInClient makes a client of the configured stand-in. Only its first answer shows whether
// it is one.
func standInClient(s settings) (*api.Client, error) {
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	return newClient(s, api.Config{Timeout: time.Minute}) // moving the clock by weeks takes its time
}

// deliveriesOf waits until each endpoint of a stand-in has answered an event, at most
// as long as one may take. An endpoint gets events only after it has answered its
// challenge, and may have been registered just now.
func deliveriesOf(ctx context.Context, client *api.Client, event api.ID) ([]delivery.Delivery, error) {
	const toVerify = 2 * time.Second
	for began := time.Now(); ; {
		var state struct{ WebhookEndpoints []struct{ Verified bool } }
		var all []delivery.Delivery
		if err := client.Control(ctx, http.MethodGet, "/control/state", nil, &state); err != nil {
			return nil, err
		}
		if err := client.Control(ctx, http.MethodGet, "/control/deliveries?event="+url.QueryEscape(string(event)), nil, &all); err != nil {
			return nil, err
		}
		waited, endpoints := time.Since(began), 0
		for _, e := range state.WebhookEndpoints {
			if e.Verified || waited < toVerify {
				endpoints++
			}
		}
		open := func(d delivery.Delivery) bool {
			return d.State != delivery.Lost && (d.State == delivery.Sending || d.Attempts == 0)
		}
		if len(all) >= endpoints && !slices.ContainsFunc(all, open) || waited > 6*time.Second {
			return all, nil
		}
		if err := api.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// triggeredLine is a delivery as --json prints it, with the event.
type triggeredLine struct {
	delivery.Delivery
	Body json.RawMessage `json:"body"`
}

// printTriggered prints an event and its answers. It fails if an endpoint did not
// accept the event.
func printTriggered(stdout io.Writer, asJSON bool, event []byte, all []delivery.Delivery) error {
	sent := api.Masked(event)
	var out bytes.Buffer
	if !asJSON {
		fmt.Fprintf(&out, "%s\n", sent)
	}
	refused := 0
	for _, d := range all {
		if d.State != delivery.Delivered && d.State != delivery.Lost {
			refused++
		}
		if json.Valid(d.Answer.Body) {
			d.Answer.Body = api.Masked(d.Answer.Body)
		}
		line := shown(d)
		ended, state := line, string(line.State)
		if d.State == delivery.Dead { // no forwarder lists it among its dead events
			ended.State, state = "", "not accepted"
		}
		text := strings.TrimRight(fmt.Sprintf("→ %s  %s  %s  %s", line.Target, state, outcome(&ended), line.Answer.Body), " ") + "\n"
		if err := printed(&out, asJSON, triggeredLine{line, sent}, text); err != nil {
			return err
		}
	}
	if _, err := stdout.Write(out.Bytes()); err != nil {
		return err
	}
	if refused > 0 {
		wanted := "200"
		if all[0].Type == api.VerificationChallenge {
			wanted += ` and {"challenge": source.id}`
		}
		return fmt.Errorf("not answered with %s within 5 seconds: %d of %d", wanted, refused, len(all))
	}
	return nil
}
