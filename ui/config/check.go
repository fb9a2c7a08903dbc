package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/notify"
)

// Upper bounds of settings: larger values are typing errors.
const (
	longestWindow = 30 * 24 * time.Hour
	longestPoll   = 24 * time.Hour
	mostLimit     = 1_000_000_000
	mostKept      = 1_000_000
)

var headerPrefix = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// Check refuses impossible values, all of them at once, as [Load] does.
func (s Settings) Check() error { return Wrong(errors.Join(s.check()...)) }

func (s Settings) check() (wrong []error) {
	folder, missing := os.Stat(s.StateDir)
	holds := map[string]bool{
		"header_prefix":             headerPrefix.MatchString(s.HeaderPrefix),
		"lookup_path":               strings.HasPrefix(s.LookupPath, "/") && !strings.ContainsAny(s.LookupPath, "?#"),
		"proxy_listen":              s.ProxyListen == "" || OnThisMachine(s.ProxyListen),
		"confirm_body":              s.ConfirmBody == "" || isObject(s.ConfirmBody),
		"confirm_window":            time.Second <= s.ConfirmWindow && s.ConfirmWindow <= longestWindow,
		"day_limit":                 0 < s.DayLimit && s.DayLimit <= mostLimit,
		"agents_limit":              0 < s.AgentsLimit && s.AgentsLimit <= mostLimit,
		"keep_intents":              0 < s.KeepIntents && s.KeepIntents <= mostKept,
		"poll_share":                s.PollShare > 0 && s.PollShare <= 1,
		"poll_every":                time.Second <= s.PollEvery && s.PollEvery <= longestPoll,
		"notify":                    slices.Contains(notify.Methods(), notify.Method(s.Notify)),
		"state_dir":                 s.StateDir != "" && (missing != nil || folder.IsDir()),
		"alert_command":             len(s.AlertCommand) == 0 || strings.TrimSpace(s.AlertCommand[0]) != "",
		"alerts.stuck_factor":       s.Alerts.StuckFactor == 0 || s.Alerts.StuckFactor >= 1 && s.Alerts.StuckFactor <= math.MaxFloat64,
		"alerts.relay_silent_after": s.Alerts.SilentAfter >= 0,
		"alerts.day_left":           s.Alerts.DayLeft >= 0,
	}
	for _, f := range fields(&s) {
		right, checked := holds[f.key]
		if span, ok := f.value.Interface().(time.Duration); ok && !checked {
			right, checked = span == 0 || span >= time.Second, true
		}
		if checked && !right {
			wrong = append(wrong, invalid(f.key, f.value.Interface(), f.must))
		}
	}
	return append(wrong, s.checkAddresses()...)
}

func isObject(text string) bool {
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// OnThisMachine reports whether only this machine can reach a listening address.
func OnThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err != nil || api.Loopback(host) // opening it reports a malformed address
}

// checkAddresses refuses unusable addresses, and keys and tokens that no request can carry.
func (s Settings) checkAddresses() (wrong []error) {
	for _, address := range []struct {
		key, value string
		wrong      error
	}{{"api_url", s.APIURL, api.CheckBaseURL(s.APIURL)}, {"relay_url", s.RelayURL, relay.CheckURL(s.RelayURL)}} {
		if address.value != "" && address.wrong != nil {
			wrong = append(wrong, fmt.Errorf("%s%s: %w", address.key, quotedAddress(address.value), address.wrong))
		}
	}
	if err := api.CheckKey(s.APIKey); err != nil && !s.APIKey.IsZero() {
		wrong = append(wrong, fmt.Errorf("api_key %w", err))
	}
	n, err := len(s.RelayToken.Reveal()), api.CheckKey(s.RelayToken)
	switch {
	case n == 0:
	case err != nil:
		wrong = append(wrong, fmt.Errorf("relay_token %w", err))
	case n < relay.MinToken:
		wrong = append(wrong, fmt.Errorf("relay_token (TILLWATCH_RELAY_TOKEN) has %d bytes, and a relay accepts none of "+
			"fewer than %d: was it copied whole? tillwatch tokens create makes one", n, relay.MinToken))
	}
	return wrong
}

// quotedAddress repeats an address, unless it may hold a password.
func quotedAddress(address string) string {
	if u, err := url.Parse(address); strings.Contains(address, "@") || err == nil && u.RawQuery != "" {
		return ""
	}
	return fmt.Sprintf(" is %s", Shown(address))
}
