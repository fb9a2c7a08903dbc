package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

type apiOptions struct {
	body, live       string
	headers          []string
	paginate, reveal bool
	guarded          bool // an order, whose guards are the caller's
}

func newAPI() *cobra.Command {
	var o apiOptions
	command := &cobra.Command{
		Use:   "api METHOD PATH [field=value…]",
		Short: "Send a request to the service, with the settings' address, key and pacing",
		Long: "Send one request to the service and print the JSON that it answers, on one line. Fields go into the query of a GET and into the JSON body of everything else, " +
			"by their path: buyer.firstName=Ada; a value that is not JSON is a string. Other users of this " +
			"machine can see them while this runs: a payment token goes into --body.\n\n" +
			"A read is sent again after failures that pass, everything else once. A stand-in also answers under " +
			"/control/ (tillwatch simulate --help), and takes every request. " +
			"Anything else takes only reads, unless --allow-confirm is given; where real money may move, --live " +
			"must hold the last four characters of the path. " +
			"What places an order has commands of its own there, which write to the audit log first: tillwatch " +
			"confirm and tillwatch purchase.\n\n" +
			"Exit codes:\n0  done\n1  failed: the service refused it, or it could not be sent\n2  wrong usage, or " +
			"not a stand-in\n" +
			"4  unknown outcome: the answer was lost, and it may have taken effect; tillwatch never resends by itself",
		Example: "tillwatch api GET /api/v1/shipments limit=20 --paginate\n" +
			"tillwatch api POST /control/intents state=awaiting_confirmation\n" +
			"tillwatch api GET /control/snapshot --reveal > day.json",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			request, err := o.request(&inputs{ctx: ctx, stdin: std.in}, args)
			if err != nil {
				return nil, usage(err)
			}
			return nil, o.run(ctx, s, request, std)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "insecure_http", "allow_confirm")
	flags.Lookup("allow-confirm").Usage = "allow more than reads on something other than a stand-in"
	flags.StringVar(&o.body, "body", "", "file with the body, - for stdin; sent as it is, or with fields set in it")
	flags.StringArrayVar(&o.headers, "header", nil, "header to add, such as 'Idempotency-Key: order-7' (repeatable)")
	flags.BoolVar(&o.paginate, "paginate", false, "read a list to its end, and print each page on a line of its own")
	flags.BoolVar(&o.reveal, "reveal", false, "print the answer as it came, with buyers and payment tokens")
	flags.StringVar(&o.live, "live", "", "where real money may move: the last four characters of the path")
	return command
}

// request is what the command line asks for.
func (o apiOptions) request(in *inputs, args []string) (api.Request, error) {
	address, query, _ := strings.Cut(args[1], "?")
	r := api.Request{Method: strings.ToUpper(args[0]), Path: address}
	var err error
	if r.Query, err = url.ParseQuery(query); err != nil {
		return r, errors.New("the query of the path cannot be read")
	}
	if r.Header, err = parseHeaders(o.headers); err != nil {
		return r, err
	}
	if err := r.Check(); err != nil {
		return r, err
	}
	reads := r.Method == http.MethodGet
	switch {
	case reads && o.body != "":
		return r, errors.New("a GET has no body: leave out --body")
	case !reads && o.paginate:
		return r, errors.New("--paginate reads a list: it goes with GET")
	case reads:
		for _, field := range args[2:] {
			name, value, found := strings.Cut(field, "=")
			if !found || name == "" {
				return r, wrongField(name)
			}
			r.Query.Add(name, value)
		}
		return r, nil
	}
	r.Body, err = o.content(in, args[2:])
	return r, err
}

func wrongField(name string) error {
	return fmt.Errorf("%.60q: give a field and its value, as in quantity=2", name)
}

// content is the body with the fields set in it. Errors repeat no value.
func (o apiOptions) content(in *inputs, set []string) ([]byte, error) {
	body := map[string]any{}
	switch {
	case o.body != "" && len(set) == 0:
		return in.read("--body", o.body)
	case o.body != "":
		if err := in.object("--body", o.body, &body); err != nil {
			return nil, err
		}
	case len(set) == 0:
		return nil, nil
	}
	if err := setFields(body, set); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// setFields sets fields of a body, each by its path, as in buyer.firstName=Ada.
func setFields(body map[string]any, set []string) error {
	for _, field := range set {
		name, value, found := strings.Cut(field, "=")
		path := strings.Split(name, ".")
		if !found || slices.Contains(path, "") {
			return wrongField(name)
		}
		setField(body, path, jsonValue(value))
	}
	return nil
}

// run sends the request and prints each answer as it comes.
func (o apiOptions) run(ctx context.Context, s settings, r api.Request, std streams) error {
	client, err := serviceClient(s)
	if err != nil {
		return err
	}
	defer client.Close()
	if r.StandIn, err = o.admit(ctx, client, s, r); err != nil {
		return err
	}
	writes := r.Method != http.MethodGet
	if writes {
		surviveReaders()
	}
	for answer, err := range o.answers(ctx, client, r) {
		if err != nil {
			return apiFailure(err, writes)
		}
		if err := o.print(std, answer); err != nil && writes {
			return &exitError{exitUnknown, fmt.Errorf("answered with %d, but not printed: %w", answer.Status, err)}
		} else if err != nil {
			return fmt.Errorf("printing the answer: %w", err)
		}
	}
	return nil
}

// serviceClient is a client that spends no more than tillwatch's share.
func serviceClient(s settings) (*api.Client, error) {
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	// Moving a stand-in's clock by weeks takes its time.
	return session.NewClient(s, api.Config{Timeout: time.Minute, Pacer: quota.NewPacer(quota.PacerConfig{Share: s.PollShare})})
}

// print prints an answer on one line; one without a body is not printed.
func (o apiOptions) print(std streams, answer api.Answer) error {
	shown := answer.Shown(o.reveal)
	if len(shown) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(std.out, "%s\n", shown)
	return err
}

func (o apiOptions) answers(ctx context.Context, client *api.Client, r api.Request) iter.Seq2[api.Answer, error] {
	if o.paginate {
		return client.Pages(ctx, r)
	}
	return func(yield func(api.Answer, error) bool) { yield(client.Send(ctx, r)) }
}

// admit finds out whether the request goes to a stand-in alone. Reads go anywhere. Before anything else is sent, a
// read shows what answers, and what is no stand-in has guards.
func (o apiOptions) admit(ctx context.Context, client *api.Client, s settings, r api.Request) (standIn bool, err error) {
	control := strings.HasPrefix(r.Path+"/", "/control/")
	if r.Method == http.MethodGet {
		return control, nil
	}
	err = client.Control(ctx, http.MethodGet, "/control/state", nil, nil)
	if refused := (*api.Error)(nil); err == nil || errors.As(err, &refused) && refused.From.StandIn { // it may refuse the key this
		return true, nil
	}
	lower := strings.ToLower(r.Path)
	if plain, err := url.PathUnescape(lower); err == nil {
		lower = strings.ToLower(plain)
	}
	switch {
	case !errors.Is(err, api.ErrNotStandIn):
		return false, fmt.Errorf("nothing was sent: cannot determine what answers: %w", err)
	case control:
		return false, onStandIn(err)
	case !s.AllowConfirm:
		return false, usagef("read-only: this is not a stand-in: give --allow-confirm, or set allow_confirm in the profile")
	case o.guarded:
		return false, nil
	case strings.Contains(lower, "/confirm") || strings.Contains(lower, "/purchase"):
		return false, usagef("this places an order: use tillwatch confirm or tillwatch purchase, which write to the audit log first")
	case client.Environment().Live:
		return false, checkEnd(o.live, r.Path, "path")
	}
	return false, nil
}

func apiFailure(err error, writes bool) error {
	switch {
	case writes && api.IsUnknownOutcome(err):
		return &exitError{exitUnknown, fmt.Errorf("unknown: it may have taken effect, so it is not sent again: %w", err)}
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized
	case errors.Is(err, api.ErrValidation):
		return errors.New(refusal(err))
	}
	return onStandIn(err)
}

// onStandIn adds what to do if no stand-in answered.
func onStandIn(err error) error {
	if errors.Is(err, api.ErrNotStandIn) {
		return usagef("%w, and this command needs a stand-in: run tillwatch simulate, and give its address with --api-url", err)
	}
	return err
}
