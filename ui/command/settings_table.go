package command

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/themes"
	"tillwatch/ui/notify"
)

// setting declares one setting. Its flag is its key with hyphens, its variable the
// key in capitals after TILLWATCH_. A secret has no flag, and may also come from the
// file named by KEY_file.
type setting struct {
	key     string // in the configuration file
	help    string // of its flag; "": it has none
	field   func(*settings) any
	must    string // a requirement beyond the field's kind
	holds   func(settings) bool
	private bool // it may hold a secret, so its value is not repeated
}

// flag is the name of the setting's flag.
func (o setting) flag() string { return strings.ReplaceAll(o.key, "_", "-") }

// secret reports whether the setting is a key, token or the like.
func (o setting) secret() bool {
	_, ok := o.field(&settings{}).(*api.Secret)
	return ok
}

// Upper bounds of settings: larger values are typing errors.
const (
	longestWindow = 30 * 24 * time.Hour
	longestPoll   = 24 * time.Hour
	mostLimit     = 1_000_000_000
	mostKept      = 1_000_000
)

// settingTable declares every setting. The defaults are those of [defaults].
func settingTable() []setting {
	headerPrefix := regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	return append([]setting{
		{key: "api_url", help: "base address of the service, without /api/v1", field: func(s *settings) any { return &s.APIURL }},
		{key: "api_key", field: func(s *settings) any { return &s.APIKey }},
		{key: "relay_url", help: "address of the relay", field: func(s *settings) any { return &s.RelayURL }},
		{key: "relay_token", field: func(s *settings) any { return &s.RelayToken }},
		{key: "signing_secret", field: func(s *settings) any { return &s.SigningSecret }},
		{key: "postgres", help: "keep journal and tokens in " + postgresUsage, field: func(s *settings) any { return &s.Postgres }},
		{key: "insecure_http", help: "send keys and tokens over http:// to other machines too; anyone on the way can read them",
			field: func(s *settings) any { return &s.InsecureHTTP }},
		{key: "watch_id", help: "id of another intent to watch, besides those in events (repeatable)", field: func(s *settings) any { return &s.WatchIDs }},
		{key: "watch_ids", help: "file with ids of intents to watch, one per line, # for comments, reloaded when it changes; - reads stdin if there is no screen",
			field: func(s *settings) any { return &s.WatchList }},
		{key: "header_prefix", field: func(s *settings) any { return &s.HeaderPrefix },
			must: "of letters, digits and hyphens, as in x-svc-", holds: func(s settings) bool { return headerPrefix.MatchString(s.HeaderPrefix) }},
		{key: "lookup_path", field: func(s *settings) any { return &s.LookupPath },
			must: "a path that begins with / and has no query, as in " + defaults().LookupPath,
			holds: func(s settings) bool {
				return strings.HasPrefix(s.LookupPath, "/") && !strings.ContainsAny(s.LookupPath, "?#")
			}},
		{key: "spender_header", help: "header that names the caller in dashboards (default: User-Agent)", field: func(s *settings) any { return &s.SpenderHeader }},
		{key: "proxy_listen", help: "run a proxy at this address, such as 127.0.0.1:7440, and show its requests (tillwatch proxy --help)",
			field: func(s *settings) any { return &s.ProxyListen },
			must:  "an address of this machine, such as 127.0.0.1:7440, as API keys pass there; for other machines use tillwatch proxy --allow-remote",
			holds: func(s settings) bool { return s.ProxyListen == "" || onThisMachine(s.ProxyListen) }},
		{key: "confirm_body", private: true, field: func(s *settings) any { return &s.ConfirmBody },
			must: `a JSON object, as in '{"paymentMethod":{"type":"drawdown"}}'`, holds: func(s settings) bool { return s.ConfirmBody == "" || isObject(s.ConfirmBody) }},
		{key: "confirm_window", help: "how long after its creation an intent can be confirmed", field: func(s *settings) any { return &s.ConfirmWindow },
			must: "from a second to 30 days, such as 45m", holds: func(s settings) bool { return time.Second <= s.ConfirmWindow && s.ConfirmWindow <= longestWindow }},
		{key: "day_limit", field: func(s *settings) any { return &s.DayLimit },
			must: "the number of intents that the account may make in a day, 1 or more", holds: func(s settings) bool { return 0 < s.DayLimit && s.DayLimit <= mostLimit }},
		{key: "agents_limit", field: func(s *settings) any { return &s.AgentsLimit },
			must: "the number of orders that may be placed at a time, 1 or more", holds: func(s settings) bool { return 0 < s.AgentsLimit && s.AgentsLimit <= mostLimit }},
		{key: "keep_intents", help: "how many ended intents to keep, the newest; open ones are always kept", field: func(s *settings) any { return &s.KeepIntents },
			must: "the number of ended intents to keep, from 1 to 1000000", holds: func(s settings) bool { return 0 < s.KeepIntents && s.KeepIntents <= mostKept }},
		{key: "allow_confirm", help: "allow confirming intents; otherwise the dashboard is read-only and confirm sends nothing", field: func(s *settings) any { return &s.AllowConfirm }},
		{key: "poll_share", help: "share of the reads bucket that tillwatch may spend unasked, above 0 and at most 1", field: func(s *settings) any { return &s.PollShare },
			must: "above 0 and at most 1", holds: func(s settings) bool { return s.PollShare > 0 && s.PollShare <= 1 }},
		{key: "poll_every", help: "how often to read open intents when nothing hints at a change, as without a relay; less often as they age", field: func(s *settings) any { return &s.PollEvery },
			must: "from a second to a day, such as 30s", holds: func(s settings) bool { return time.Second <= s.PollEvery && s.PollEvery <= longestPoll }},
		{key: "theme", help: "theme: " + themeAuto + " (dark or light, as the terminal is), " + orNone(themes.Names()) + ", or a file of your own, as in ./my.toml",
			field: func(s *settings) any { return &s.Theme }},
		{key: "filter", help: "filter the intents at the start, such as merchant:acme, or by the name of a filter saved with :save", field: func(s *settings) any { return &s.Filter }},
		{key: "notify", help: "how to notify you while the terminal is not focused: " + notifyMethods(), field: func(s *settings) any { return &s.Notify },
			must: "one of " + notifyMethods(), holds: func(s settings) bool { _, err := notify.ParseMethod(s.Notify); return err == nil }},
		{key: "no_open", help: "copy links instead of opening them in a browser", field: func(s *settings) any { return &s.NoOpen }},
		{key: "state_dir", help: "folder for the audit log and saved state", field: func(s *settings) any { return &s.StateDir },
			must: "a folder", holds: func(s settings) bool {
				at, err := os.Stat(s.StateDir)
				return s.StateDir != "" && (err != nil || at.IsDir())
			}},
		{key: "idle_after", field: func(s *settings) any { return &s.IdleAfter },
			must: `a second or more, with its unit as in "5m", or 0 for never`, holds: func(s settings) bool { return s.IdleAfter == 0 || s.IdleAfter >= time.Second }},
		{key: "alert_command", private: true, field: func(s *settings) any { return &s.AlertCommand },
			must: "a program and its arguments, such as " + programLineHint, holds: func(s settings) bool {
				return len(s.AlertCommand) == 0 || strings.TrimSpace(s.AlertCommand[0]) != ""
			}},
		{key: "alert_command_live", field: func(s *settings) any { return &s.AlertCommandLive }},
		{key: "keys", field: func(s *settings) any { return &s.Keys }},
		{key: "command", private: true, field: func(s *settings) any { return &s.Commands }},
	}, alertTable()...)
}

// variableKeys are the settings that variables can hold: all but tables and programs.
func variableKeys() []string {
	return slices.DeleteFunc(settingKeys(), func(key string) bool { return slices.Contains([]string{"keys", "command", "alert_command"}, key) })
}

// alertTable declares the thresholds of alerts, the table [alerts]; 0 switches an
// alert off.
func alertTable() []setting {
	span := func(name string, field func(*settings) *time.Duration) setting {
		return setting{key: "alerts." + name, field: func(s *settings) any { return field(s) },
			must:  `a second or more, with its unit as in "5m", or 0 for never`,
			holds: func(s settings) bool { d := *field(&s); return d == 0 || d >= time.Second }}
	}
	return []setting{
		span("awaiting_after", func(s *settings) *time.Duration { return &s.Alerts.AwaitingAfter }),
		span("expiring_within", func(s *settings) *time.Duration { return &s.Alerts.ExpiringWithin }),
		span("stuck_after", func(s *settings) *time.Duration { return &s.Alerts.StuckAfter }),
		{key: "alerts.stuck_factor", field: func(s *settings) any { return &s.Alerts.StuckFactor },
			must: "1 or more, or 0 to use only stuck_after", holds: func(s settings) bool {
				return s.Alerts.StuckFactor == 0 || s.Alerts.StuckFactor >= 1 && s.Alerts.StuckFactor <= math.MaxFloat64
			}},
		span("failed_for", func(s *settings) *time.Duration { return &s.Alerts.FailedFor }),
		span("partly_for", func(s *settings) *time.Duration { return &s.Alerts.PartlyFor }),
		span("relay_lost_after", func(s *settings) *time.Duration { return &s.Alerts.RelayLostAfter }),
		{key: "alerts.relay_silent_after", field: func(s *settings) any { return &s.Alerts.SilentAfter },
			must: "a number of changes, or 0 for never", holds: func(s settings) bool { return s.Alerts.SilentAfter >= 0 }},
		span("quota_within", func(s *settings) *time.Duration { return &s.Alerts.QuotaWithin }),
		{key: "alerts.day_left", field: func(s *settings) any { return &s.Alerts.DayLeft },
			must: "a number of intents, or 0 for never", holds: func(s settings) bool { return s.Alerts.DayLeft >= 0 }},
	}
}

// settingFlags adds the flags of these settings to a command.
func settingFlags(flags *pflag.FlagSet, keys ...string) {
	d := defaults()
	for _, one := range settingTable() {
		if !slices.Contains(keys, one.key) {
			continue
		}
		switch value := one.field(&d).(type) {
		case *string:
			flags.String(one.flag(), *value, one.help)
		case *api.Secret: // without the password
			flags.String(one.flag(), "", one.help)
		case *bool:
			flags.Bool(one.flag(), *value, one.help)
		case *int:
			flags.Int(one.flag(), *value, one.help)
		case *float64:
			flags.Float64(one.flag(), *value, one.help)
		case *time.Duration:
			flags.Duration(one.flag(), *value, one.help)
		case *[]string:
			flags.StringSlice(one.flag(), *value, one.help)
		default:
			panic(fmt.Sprintf("the setting %s has no flag", one.key))
		}
	}
}

// secretKeys are the settings that may also be given by a file, as KEY_file.
func secretKeys() (keys []string) {
	for _, one := range settingTable() {
		if one.secret() {
			keys = append(keys, one.key)
		}
	}
	return keys
}

// settingKeys are all settings' names in the configuration file, table.name in a
// table.
func settingKeys() (keys []string) {
	for _, one := range settingTable() {
		if keys = append(keys, one.key); one.secret() {
			keys = append(keys, one.key+"_file")
		}
	}
	slices.Sort(keys)
	return keys
}
