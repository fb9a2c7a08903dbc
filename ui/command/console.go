package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
)

// newConsole makes the command that calls a stand-in's control API: one request per
// subcommand.
func newConsole() *cobra.Command {
	command := &cobra.Command{
		Use:   "console",
		Short: "Inspect and control a running stand-in",
		Long: "Inspect and control a running stand-in (tillwatch simulate or demo). Each command sends a request under /control/ to the stand-in at --api-url, " +
			"with its API key, and refuses anything but a stand-in. Without a subcommand it prints an overview.\n\n" +
			"Exit codes: 0 done; 1 the stand-in refused or did not answer; 2 wrong usage, or not a stand-in.",
		Example: "tillwatch console --api-url http://127.0.0.1:7420\n" +
			"tillwatch console fault lose --type checkout_intent.completed\n" +
			"tillwatch console clock forward 45m",
		Args: noArguments,
	}
	sourceFlags(command.PersistentFlags(), "api_url", "insecure_http")
	command.PersistentFlags().Bool("json", false, "print the answer as JSON, with buyers and payment tokens masked")
	command.RunE = sendsRequest(printState, func([]string) (request, error) { return request{http.MethodGet, "/control/state", nil}, nil })
	command.AddCommand(
		consoleEndpoints(), consoleDeliveries(), consoleDeliver(), consoleFault(), consoleFailures(), consoleProducts(), consoleProduct(),
		consoleAdvance(), consoleClock(), consoleLimit(), consoleBalance(), consoleSnapshot(),
	)
	return command
}

// request is a request to the control API. body is nil if it has none.
type request struct {
	method, path string
	body         any
}

func (r request) send(ctx context.Context, client *api.Client) (answer json.RawMessage, err error) {
	err = client.Control(ctx, r.method, r.path, r.body, &answer)
	return answer, err
}

// fields are the fields of a JSON body.
type fields map[string]any

// sendsRequest returns the run function of a command that sends one request.
func sendsRequest(show printer, of func(args []string) (request, error)) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		r, err := of(args)
		if err != nil {
			return usage(err)
		}
		return inConsole(c, show, r.send)
	}
}

// inConsole prints the stand-in's answer.
func inConsole(c *cobra.Command, show printer, ask func(context.Context, *api.Client) (json.RawMessage, error)) error {
	s, err := settingsOf(c)
	if err != nil {
		return err
	}
	client, err := standInClient(s)
	if err != nil {
		return err
	}
	defer client.Close()
	answer, err := ask(c.Context(), client)
	if err != nil {
		return onStandIn(err)
	}
	if asJSON, _ := c.Flags().GetBool("json"); asJSON {
		return writeLine(c.OutOrStdout(), api.Masked(answer))
	}
	return show(c.OutOrStdout(), answer)
}

// consoleCommand is a command that sends one request.
func consoleCommand(use, short, example string, args cobra.PositionalArgs, show printer, of func([]string) (request, error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: example, Args: args, RunE: sendsRequest(show, of)}
}

func consoleEndpoints() *cobra.Command {
	const path = "/control/webhook-endpoints"
	show := table("id", "url", "verified", "delivered", "failures", "givenUp", "lost", "lastError")
	const does = "List the webhook endpoints"
	all := func([]string) (request, error) { return request{http.MethodGet, path, nil}, nil }
	endpoints := consoleCommand("endpoints", does, "tillwatch console endpoints add http://127.0.0.1:3000/webhooks", noArguments, show, all)
	var history bool
	add := consoleCommand("add URL", "Deliver events to another URL, or verify a known one again", "", nothingBut("a URL"), show,
		func(args []string) (request, error) {
			return request{http.MethodPost, path, fields{"url": args[0], "history": history}}, nil
		})
	add.Flags().BoolVar(&history, "history", false, "also deliver all events since the start")
	remove := consoleCommand("remove ID", "Stop delivering to an endpoint", "", idOf("an endpoint"), show,
		func(args []string) (request, error) {
			return request{http.MethodDelete, path + "/" + url.PathEscape(args[0]), nil}, nil
		})
	endpoints.AddCommand(add, consoleCommand("list", does, "", noArguments, show, all), remove)
	return endpoints
}

var deliveryColumns = []string{"id", "type", "source", "state", "attempts", "status", "tookNs", "error", "answer.body"}

func consoleDeliveries() *cobra.Command {
	var event, endpoint string
	var limit int
	command := consoleCommand("deliveries", "List the newest deliveries with their answers", "tillwatch console deliveries --limit 5 --json", noArguments, table(deliveryColumns...),
		func([]string) (request, error) {
			q := url.Values{"limit": {fmt.Sprint(limit)}}
			for name, value := range map[string]string{"event": event, "endpoint": endpoint} {
				if value != "" {
					q.Set(name, value)
				}
			}
			return request{http.MethodGet, "/control/deliveries?" + q.Encode(), nil}, nil
		})
	command.Flags().StringVar(&event, "event", "", "only deliveries of the event with this id")
	command.Flags().StringVar(&endpoint, "endpoint", "", "only deliveries to the endpoint with this id")
	command.Flags().IntVar(&limit, "limit", 20, "list at most this many, 1 to 1000")
	return command
}

func consoleDeliver() *cobra.Command {
	return &cobra.Command{
		Use:   "deliver ID",
		Short: "Repeat a delivery, or all deliveries of an event",
		Long: "Repeat a delivery by its id, or all deliveries of an event by the event's id. " +
			"A delivery that waits for its next attempt is sent now; one that was lost or given up is sent again.",
		Example: "tillwatch console deliver evt_ci_779d1ba1900f_completed",
		Args:    idOf("a delivery or of an event"),
		RunE: func(c *cobra.Command, args []string) error {
			return inConsole(c, table(deliveryColumns[:5]...), func(ctx context.Context, client *api.Client) (json.RawMessage, error) {
				return deliverAgain(ctx, client, args[0])
			})
		},
	}
}

// deliverAgain repeats the deliveries of an event, or the delivery with that id.
func deliverAgain(ctx context.Context, client *api.Client, id string) (json.RawMessage, error) {
	var listed []struct {
		ID string `json:"id"`
	}
	if err := client.Control(ctx, http.MethodGet, "/control/deliveries?limit=1000&event="+url.QueryEscape(id), nil, &listed); err != nil {
		return nil, err
	}
	var ids []string
	for _, d := range listed {
		ids = append(ids, d.ID)
	}
	if len(ids) == 0 {
		ids = []string{id}
	}
	all := []json.RawMessage{}
	for _, id := range ids {
		one, err := request{http.MethodPost, "/control/deliveries/" + url.PathEscape(id) + "/again", nil}.send(ctx, client)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return json.Marshal(all)
}

func consoleAdvance() *cobra.Command {
	var to, failure string
	var expire bool
	command := &cobra.Command{
		Use:   "advance ID",
		Short: "Move an intent to its next state, or a parcel to its next scan",
		Example: "tillwatch console advance ci_779d1ba1900f41e1ace4536c64382ed7 --to completed\n" +
			"tillwatch console advance ci_779d1ba1900f41e1ace4536c64382ed7 --fail payment_failed",
		Args: idOf("an intent or of a shipment"),
		RunE: func(c *cobra.Command, args []string) error {
			id := url.PathEscape(args[0])
			step := request{http.MethodPost, "/control/intents/" + id + "/advance", fields{"to": to}}
			switch {
			case to != "" && (failure != "" || expire) || failure != "" && expire:
				return usagef("--to, --fail and --expire exclude each other")
			case failure != "":
				step = request{http.MethodPost, "/control/intents/" + id + "/fail", fields{"failure": failure}}
			case expire:
				step = request{http.MethodPost, "/control/intents/" + id + "/fail", fields{"failure": api.Expired}}
			}
			return inConsole(c, table("id", "state", "status", "failureReason.code", "orderId", "tracking.number"), func(ctx context.Context, client *api.Client) (answer json.RawMessage, err error) {
				answer, err = step.send(ctx, client)
				if errors.Is(err, api.ErrNotFound) && cmp.Or(to, failure) == "" && !expire {
					answer, err = request{http.MethodPost, "/control/shipments/" + id + "/advance", nil}.send(ctx, client)
				}
				if errors.Is(err, api.ErrNotFound) {
					err = fmt.Errorf("the stand-in has no intent with the id %s, and no shipment that could do this", api.Scrub(args[0]))
				}
				return answer, err
			})
		},
	}
	command.Flags().StringVar(&to, "to", "", "the state to move an intent to: awaiting_confirmation, placing_order or completed")
	command.Flags().StringVar(&failure, "fail", "", "fail an intent with this code, such as payment_failed")
	command.Flags().BoolVar(&expire, "expire", false, "close the confirm window of an intent")
	return command
}

func consoleSnapshot() *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot FILE",
		Short: "Save the stand-in's state to a file that another one can start from",
		Long: "Save the stand-in's state to a file, or to stdout with -: intents, shipments, products, events, endpoints, limits and the balance. tillwatch simulate --from FILE starts with it. " +
			"The file holds buyers and payment tokens, but no key and no secret.",
		Example: "tillwatch console snapshot day.json\ntillwatch simulate --from day.json",
		Args:    nothingBut("a file, or - for stdout"),
		RunE: func(c *cobra.Command, args []string) error {
			save := func(_ io.Writer, answer []byte) error { return os.WriteFile(args[0], append(answer, '\n'), 0o600) }
			if args[0] == "-" {
				save = func(w io.Writer, answer []byte) error { return writeLine(w, answer) }
			}
			return inConsole(c, save, request{http.MethodGet, "/control/snapshot", nil}.send)
		},
	}
}

func writeLine(w io.Writer, line []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", line)
	return err
}

// printer prints an answer for people.
type printer func(w io.Writer, answer []byte) error

// standInClient makes a client of the configured stand-in. Only its first answer shows whether
// it is one.
func standInClient(s settings) (*api.Client, error) {
	if err := s.requireService(); err != nil {
		return nil, err
	}
	return s.newClient(api.Config{Timeout: time.Minute}) // moving the clock by weeks takes its time
}

// onStandIn adds what to do if no stand-in answered.
func onStandIn(err error) error {
	if errors.Is(err, api.ErrNotStandIn) {
		return usagef("%w, and this command needs a stand-in: run tillwatch simulate, and give its address with --api-url", err)
	}
	return err
}
