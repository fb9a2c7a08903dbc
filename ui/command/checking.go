package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/notify"
)

// Bounds of settings. What is longer or more is a typing error.
const (
	longestWindow = 30 * 24 * time.Hour
	longestPoll   = 24 * time.Hour
	mostLimit     = 1_000_000_000
	mostKept      = 1_000_000
)

// check refuses values that cannot be meant, all of them at once.
func (s settings) check() error {
	var wrong []error
	must := func(holds bool, key string, value any, what string) {
		if !holds {
			wrong = append(wrong, unfit(key, value, what))
		}
	}
	must(s.PollShare > 0 && s.PollShare <= 1, "poll_share", s.PollShare, "above 0 and at most 1")
	must(time.Second <= s.PollEvery && s.PollEvery <= longestPoll, "poll_every", s.PollEvery, "from a second to a day, such as 30s")
	must(time.Second <= s.ConfirmWindow && s.ConfirmWindow <= longestWindow, "confirm_window", s.ConfirmWindow, "from a second to 30 days, such as 45m")
	must(0 < s.DayLimit && s.DayLimit <= mostLimit, "day_limit", s.DayLimit, "the number of intents that the account may make in a day, 1 or more")
	must(0 < s.AgentsLimit && s.AgentsLimit <= mostLimit, "agents_limit", s.AgentsLimit, "the number of orders that may be placed at a time, 1 or more")
	must(0 < s.KeepIntents && s.KeepIntents <= mostKept, "keep_intents", s.KeepIntents, "the number of ended intents to keep, from 1 to 1000000")
	must(headerPrefix.MatchString(s.HeaderPrefix), "header_prefix", s.HeaderPrefix, "of letters, digits and hyphens, as in x-svc-")
	must(strings.HasPrefix(s.LookupPath, "/") && !strings.ContainsAny(s.LookupPath, "?#"), "lookup_path", s.LookupPath, "a path that begins with / and has no query, as in "+defaults().LookupPath)
	must(s.ConfirmBody == "" || isObject(s.ConfirmBody), "confirm_body", s.ConfirmBody, `a JSON object, as in '{"paymentMethod":{"type":"drawdown"}}'`)
	_, err := notify.ParseMethod(s.Notify)
	must(err == nil, "notify", s.Notify, "one of "+notifyMethods())
	must(s.StateDir != "", "state_dir", s.StateDir, "a folder")
	if at, err := os.Stat(s.StateDir); err == nil {
		must(at.IsDir(), "state_dir", s.StateDir, "a folder")
	}
	wrong = append(wrong, s.checkAddresses()...)
	if _, err := s.Keys.table(); err != nil {
		wrong = append(wrong, usage(err))
	}
	return together(append(wrong, s.Alerts.check())...)
}

// together is several errors as one, with the exit code of the first.
func together(errs ...error) error {
	var exit *exitError
	if err := errors.Join(errs...); errors.As(err, &exit) {
		return &exitError{exit.code, err}
	}
	return nil
}

var headerPrefix = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

func isObject(text string) bool {
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// checkAddresses refuses addresses that cannot be called, and keys and tokens that
// no request can carry.
func (s settings) checkAddresses() (wrong []error) {
	for _, address := range []struct {
		key, value string
		check      func(string) error
	}{{"api_url", s.APIURL, api.CheckBaseURL}, {"relay_url", s.RelayURL, relay.CheckURL}} {
		if address.value == "" {
			continue
		}
		if err := address.check(address.value); err != nil {
			wrong = append(wrong, usagef("%s%s: %w", address.key, quotedAddress(address.value), err))
		}
	}
	for _, secret := range []struct {
		key   string
		value api.Secret
	}{{"api_key", s.APIKey}, {"relay_token", s.RelayToken}} {
		if secret.value.IsZero() {
			continue
		}
		if err := api.CheckKey(secret.value); err != nil {
			wrong = append(wrong, usagef("%s %w", secret.key, err))
		}
	}
	return wrong
}

// quotedAddress repeats an address, unless it may hold a password.
func quotedAddress(address string) string {
	if u, err := url.Parse(address); strings.Contains(address, "@") || err == nil && u.RawQuery != "" {
		return ""
	}
	return fmt.Sprintf(" is %s", shownValue(address))
}
