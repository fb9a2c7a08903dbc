package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// The commands of the console that set something.

func consoleFault() *cobra.Command {
	var f simulator.EventFault
	const late = 10 * time.Second
	var lateBy time.Duration
	var forget bool
	command := consoleCommand("fault [lose|double|late|reorder]", "Disturb the delivery of the next events, or list the faults still to come",
		"tillwatch console fault lose --type checkout_intent.completed\ntillwatch console fault late --type 'shipment.*' --late-by 30s --count 3",
		func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && forget {
				return fmt.Errorf("give one of lose, double, late and reorder, or --forget alone")
			}
			return nil
		},
		table("do", "type", "source", "lateBy", "count"),
		func(args []string) (request, error) {
			const path = "/control/event-faults"
			switch {
			case forget:
				return request{http.MethodDelete, path, nil}, nil
			case len(args) == 0 && (f != simulator.EventFault{Count: 1} || lateBy != late):
				return request{}, fmt.Errorf("which fault? give lose, double, late or reorder")
			case len(args) == 0:
				return request{http.MethodGet, path, nil}, nil
			}
			f.Do, f.LateBy = args[0], lateBy.Seconds()
			return request{http.MethodPost, path, f}, nil
		})
	command.ValidArgs = []string{"lose", "double", "late", "reorder"}
	flags := command.Flags()
	flags.StringVar(&f.Type, "type", "", "only events of this type, or of a group such as 'shipment.*' (default any)")
	flags.StringVar(&f.Source, "source", "", "only events about the intent, shipment or product with this id (default any)")
	flags.IntVar(&f.Count, "count", 1, "how many events to disturb")
	flags.DurationVar(&lateBy, "late-by", late, "the delay; for reorder, the longest delay")
	flags.BoolVar(&forget, "forget", false, "drop the faults still to come")
	return command
}

func consoleFailures() *cobra.Command {
	const path, does = "/control/failures", "List the failures of requests still to come"
	show := table("count", "path", "method", "status", "after", "drop", "twice", "lateBy")
	all := func([]string) (request, error) { return request{http.MethodGet, path, nil}, nil }
	failures := consoleCommand("failures", does, "tillwatch console failures add --path /api/v1/shipments --status 503 --count 2\ntillwatch console failures end", noArguments, show, all)
	var of struct {
		path, method       string
		count, status      int
		after, drop, twice bool
		lateBy             time.Duration
	}
	add := consoleCommand("add", "Let the next requests fail, break off, come late or arrive twice", "", noArguments, show, func([]string) (request, error) {
		return request{http.MethodPost, path, fields{
			"path": of.path, "method": strings.ToUpper(of.method), "count": of.count, "status": of.status,
			"after": of.after, "drop": of.drop, "twice": of.twice, "lateBy": of.lateBy.Seconds(),
		}}, nil
	})
	flags := add.Flags()
	flags.StringVar(&of.path, "path", "", "only requests whose path begins with this, such as /api/v1/shipments (default any)")
	flags.StringVar(&of.method, "method", "", "only requests with this method, such as POST (default any)")
	flags.IntVar(&of.count, "count", 1, "how many requests")
	flags.IntVar(&of.status, "status", 0, "answer with this status, 400 to 599 (default 500, if nothing else goes wrong)")
	flags.BoolVar(&of.after, "after", false, "let the request take effect before anything goes wrong")
	flags.BoolVar(&of.drop, "drop", false, "break the connection instead of answering")
	flags.BoolVar(&of.twice, "twice", false, "let the request arrive twice and answer the second")
	flags.DurationVar(&of.lateBy, "late-by", 0, "hold the request back this long, or with --after its answer")
	end := &cobra.Command{Use: "end", Short: "End the failures, and let go of requests that are held back", Args: noArguments, RunE: func(c *cobra.Command, _ []string) error {
		return inConsole(c, show, func(ctx context.Context, client *api.Client) (json.RawMessage, error) {
			if _, err := (request{http.MethodPost, path + "/end", nil}).send(ctx, client); err != nil {
				return nil, err
			}
			return request{http.MethodGet, path, nil}.send(ctx, client)
		})
	}}
	failures.AddCommand(add, consoleCommand("list", does, "", noArguments, show, all), end)
	return failures
}

func consoleProducts() *cobra.Command {
	return consoleCommand("products", "List what the merchants sell, with price and stock", "", noArguments,
		table("url", "price", "availability", "removed", "name"),
		func([]string) (request, error) { return request{http.MethodGet, "/control/products", nil}, nil })
}

func consoleProduct() *cobra.Command {
	var price, stock string
	var remove bool
	command := consoleCommand("product URL", "Change a product's price or stock, or remove it, and deliver the event",
		"tillwatch console product https://spice-lab.example/products/gochugaru --price 12.90USD --stock out_of_stock", nothingBut("the URL of a product"),
		table("id", "type", "source.id", "data.price", "data.availability"),
		func(args []string) (request, error) {
			body := fields{"type": api.ProductUpdated, "productUrl": args[0]}
			if price != "" {
				cents, err := dollars("--price", price)
				if err != nil {
					return request{}, err
				}
				body["price"] = cents
			}
			if stock != "" {
				body["availability"] = stock
			}
			if remove {
				body["type"] = api.ProductRemoved
			}
			return request{http.MethodPost, "/control/events", body}, nil
		})
	command.Flags().StringVar(&price, "price", "", "its new price, such as 12.90USD")
	command.Flags().StringVar(&stock, "stock", "", "its new availability, such as out_of_stock")
	command.Flags().BoolVar(&remove, "remove", false, "remove it")
	return command
}

// dollars reads an amount in the stand-in's currency, as cents.
func dollars(of, text string) (int64, error) {
	amount, err := api.ParseMoney(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", of, err)
	case amount.Currency != "USD" || amount.Subunits < 0 || amount.Subunits > math.MaxInt32:
		return 0, fmt.Errorf("%s is %s; the stand-in deals in dollars, from 0.00USD to 21474836.47USD", of, amount.Readable())
	}
	return amount.Subunits, nil
}

func consoleClock() *cobra.Command {
	const path = "/control/clock"
	set := func(body fields) (request, error) { return request{http.MethodPut, path, body}, nil }
	show := table("now", "stopped")
	command := consoleCommand("clock", "Show or set the stand-in's own clock, which drives intents and parcels", "tillwatch console clock stop\ntillwatch console clock forward 45m", noArguments, show,
		func([]string) (request, error) { return request{http.MethodGet, path, nil}, nil })
	command.Long = command.Short + ". The objects that the stand-in makes carry its time. What clients wait for goes by real time: per-second limits, deliveries and their pauses.\n\n" +
		"It stops, starts, and moves ahead by at most 31 days at once, never back. When the command ends, everything due until then has happened."
	command.AddCommand(
		consoleCommand("stop", "Stop the clock: nothing moves on by itself", "", noArguments, show, func([]string) (request, error) { return set(fields{"stopped": true}) }),
		consoleCommand("start", "Start the clock again", "", noArguments, show, func([]string) (request, error) { return set(fields{"stopped": false}) }),
		consoleCommand("forward DURATION", "Move the clock ahead, such as by 90s, 45m or 2d", "", nothingBut("a duration such as 45m"), show, func(args []string) (request, error) {
			d, err := parseAge(args[0])
			if err != nil {
				return request{}, fmt.Errorf("%.40q is not a positive duration; give one such as 90s, 45m or 2d", args[0])
			}
			return set(fields{"forward": d.Seconds()})
		}),
		consoleCommand("to TIME", "Move the clock to a time, such as 2026-03-01T12:00:00Z", "", nothingBut("a time such as 2026-03-01T12:00:00Z"), show, func(args []string) (request, error) {
			at, err := time.Parse(time.RFC3339, args[0])
			if err != nil {
				return request{}, fmt.Errorf("%.40q is not a time; give one such as 2026-03-01T12:00:00Z", args[0])
			}
			return set(fields{"to": at})
		}),
	)
	return command
}

func consoleLimit() *cobra.Command {
	var left int
	command := &cobra.Command{
		Use:   "limit BUCKET [N|none]",
		Short: "Change a limit of the account, or what is left of it",
		Long: "Change a limit of the account: mutations, reads, product-lookup (per second), checkout-intents (per day) or concurrent-agents. " +
			"0 lets nothing through; none takes the limit away. With --left, set what is left in the current window.",
		Example: "tillwatch console limit checkout-intents 500\ntillwatch console limit reads --left 0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("give a bucket, and its limit or --left")
			}
			return nil
		},
	}
	command.RunE = sendsRequest(table("name", "limit", "remaining", "resetSeconds"), func(args []string) (request, error) {
		body := fields{}
		if len(args) == 2 {
			limit, err := strconv.Atoi(args[1])
			if args[1] == "none" {
				limit, err = -1, nil
			}
			if err != nil {
				return request{}, fmt.Errorf("the limit is %.40q; it is a whole number, or none", args[1])
			}
			body["limit"] = limit
		}
		if command.Flags().Changed("left") {
			body["remaining"] = left
		}
		if len(body) == 0 {
			return request{}, fmt.Errorf("give a new limit, or --left")
		}
		return request{http.MethodPut, "/control/buckets/" + url.PathEscape(args[0]), body}, nil
	})
	command.Flags().IntVar(&left, "left", 0, "what is left in the current window")
	return command
}

func consoleBalance() *cobra.Command {
	return consoleCommand("balance [AMOUNT|none]", "Show or set the drawdown balance; an order above it fails with payment_failed",
		"tillwatch console balance 100.00USD\ntillwatch console balance none", argument("", "give an amount such as 100.00USD, or none, and nothing else"), printBalance,
		func(args []string) (request, error) {
			const path = "/control/balance"
			switch {
			case len(args) == 0:
				return request{http.MethodGet, path, nil}, nil
			case args[0] == "none":
				return request{http.MethodPut, path, fields{"amountSubunits": nil}}, nil
			}
			cents, err := dollars("the balance", args[0])
			return request{http.MethodPut, path, fields{"amountSubunits": cents}}, err
		})
}
