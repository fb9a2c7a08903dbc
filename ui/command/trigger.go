package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
	"tillwatch/ui/wording"
)

// triggering is an event to make happen or to send.
type triggering struct {
	set                []string
	body, to           string
	reference, failure string // of an intent in the stand-in

	kind simulator.EventKind // zero with --body
}

func newTrigger() *cobra.Command {
	var t triggering
	var list bool
	command := &cobra.Command{
		Use:   "trigger [TYPE]",
		Short: "Make an event happen in a stand-in, or send one to an endpoint",
		Long: "Make an event of the contract happen. In the configured stand-in, what the event reports really " +
			"happens: to a new intent, or to the source in --set source.id, which must be in the right state. " +
			"checkout_intent.completed makes an intent and completes it. A parcel needs its source: the completed " +
			"intent for shipment.created, the parcel for shipment.updated. The stand-in delivers its own event, and " +
			"its state agrees with it.\n\n" +
			"With --to, a body in the contract's shape goes to any endpoint, with the four headers, signed with " +
			"TILLWATCH_SIGNING_SECRET. --set changes a field of it, by its path: --set data.price=1299 (cents), " +
			"--set source.id=ci_…; a value that is not JSON is a string. --body sends your own body, byte for byte " +
			"unless --set changes it.\n\n" +
			"Exit codes: 0 the answer was 200 within 5 seconds; 1 it was not; 2 wrong usage, or not a stand-in.",
		Example: "tillwatch trigger checkout_intent.completed --reference order-7\n" +
			"tillwatch trigger checkout_intent.order_failed --failure payment_failed\n" +
			"tillwatch trigger product.updated --set data.price=1299 --to http://127.0.0.1:3000/webhooks",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			if list {
				return listOfTypes(), nil
			}
			if err := t.parse(args); err != nil {
				return nil, usage(err)
			}
			if t.to != "" {
				return t.send(ctx, s, std)
			}
			return t.happen(ctx, s, std)
		}),
		ValidArgs: typeCompletions(),
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "insecure_http")
	flags.BoolVar(&list, "list", false, "list the types with their meaning and source")
	flags.StringArrayVar(&t.set, "set", nil, "a field of the body and its value, such as data.price=1299 (repeatable)")
	flags.StringVar(&t.body, "body", "", "file with your own body, or - for stdin; needs --to")
	flags.StringVar(&t.to, "to", "",
		"endpoint to send the event to, such as http://127.0.0.1:3000/webhooks (default: into the stand-in)")
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.StringVar(&t.reference, "reference", "", "in the stand-in: reference of a new intent")
	flags.StringVar(&t.failure, "failure", "", "in the stand-in: code of the failure, such as payment_failed")
	command.MarkFlagsMutuallyExclusive("to", "reference")
	command.MarkFlagsMutuallyExclusive("to", "failure")
	jsonFlag(flags, "print one JSON object per delivery")
	return command
}

func listOfTypes() report {
	rows := [][]string{{"TYPE", "MEANS", "ITS SOURCE"}}
	for _, t := range simulator.EventKinds() {
		rows = append(rows, []string{string(t.Type), t.Means, t.Needs})
	}
	return listOf(simulator.EventKinds(), table(rows...))
}

// parse finds the type, and refuses what goes only with an endpoint or only with a stand-in.
func (t *triggering) parse(args []string) error {
	switch {
	case t.body != "" && len(args) > 0:
		return fmt.Errorf("--body has its own type: leave out %s", api.Scrub(args[0]))
	case t.body != "" && t.to == "":
		return errors.New("--body needs --to: the stand-in delivers only its own events")
	case t.body != "":
		return nil
	case len(args) == 0:
		return errors.New("which event? give its type, such as checkout_intent.completed (tillwatch trigger --list)")
	}
	for _, kind := range simulator.EventKinds() {
		if string(kind.Type) == args[0] {
			t.kind = kind
			return nil
		}
	}
	return fmt.Errorf("there is no event type %.60q%s (tillwatch trigger --list)",
		args[0], wording.Suggest(args[0], asStrings(api.EventTypes())))
}

// content is the event to send.
func (t *triggering) content(in *inputs) (event api.Event, err error) {
	body := t.kind.Sample(t.source(), time.Now())
	if t.body != "" {
		if body, err = in.read("--body", t.body); err != nil {
			return event, err
		}
	}
	if len(t.set) > 0 {
		object, isObject := jsonValue(string(body)).(map[string]any)
		if !isObject {
			return event, usagef("the body is not a JSON object: leave out --set to send it as it is")
		}
		if err := setFields(object, t.set); err != nil {
			return event, usagef("--set %w", err)
		}
		if body, err = json.Marshal(object); err != nil {
			return event, err
		}
	}
	if event, err = eventIn(body); err != nil && t.body == "" {
		return event, usagef("the body is not an event: %w", err)
	}
	return event, nil
}

// source is the id that --set gives to the event's source; "" if none.
func (t *triggering) source() (id string) {
	for _, set := range t.set {
		if text, found := strings.CutPrefix(set, "source.id="); found {
			id = fmt.Sprint(jsonValue(text))
		}
	}
	return id
}

// send sends the event to an endpoint like the service.
func (t *triggering) send(ctx context.Context, s settings, std streams) (report, error) {
	event, err := t.content(&inputs{ctx: ctx, stdin: std.in})
	if err != nil {
		return nil, err
	}
	to, err := newSingleSender(s, t.to, senderOptions{}, std)
	if err != nil {
		return nil, err
	}
	item := relay.Item{Event: event}
	d := to.sender.Send(ctx, t.to, item, forward.NewDelivery(t.to, item))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return triggered(event.Raw, []delivery.Delivery{d})
}

// triggeredLine is a delivery as --json prints it, with the event.
type triggeredLine struct {
	delivery.Delivery
	Body json.RawMessage `json:"body"`
}

// triggered reports an event and its answers. It fails if an endpoint did not accept the event.
func triggered(event []byte, all []delivery.Delivery) (report, error) {
	sent := api.Masked(event)
	text := string(sent) + "\n"
	var lines []triggeredLine
	var count sentCount
	for _, d := range all {
		state := string(d.State)
		if d.State != delivery.Lost {
			count.add(d)
			if d.State != delivery.Delivered {
				state, d.State = "not accepted", delivery.Dead // nobody retries what was sent to --to
			}
		}
		if json.Valid(d.Answer.Body) {
			d.Answer.Body = api.Masked(d.Answer.Body)
		}
		d = shown(d)
		lines = append(lines, triggeredLine{d, sent})
		d.State = "" // no forwarder has given it up
		line := fmt.Sprintf("→ %s  %s  %s  %s", d.Target, state, outcome(&d), d.Answer.Body)
		text += strings.TrimRight(line, " ") + "\n"
	}
	return listOf(lines, text), count.failure()
}

// jsonValue is the value of a field on the command line: what is not JSON is a string. Numbers stay
// as they are written.
func jsonValue(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if !json.Valid([]byte(text)) || decoder.Decode(&value) != nil {
		return text
	}
	return value
}

// setField sets the field at a path. A text stays one, and a number for an amount of money is its
// cents.
func setField(object map[string]any, path []string, value any) {
	last := len(path) - 1
	for _, name := range path[:last] {
		inner, isObject := object[name].(map[string]any)
		if !isObject {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	number, isNumber := value.(json.Number)
	switch of := object[path[last]].(type) {
	case string:
		if isNumber {
			value = string(number)
		}
	case map[string]any:
		if _, amount := of["amountSubunits"]; amount && isNumber {
			of["amountSubunits"] = number
			return
		}
	}
	object[path[last]] = value
}
