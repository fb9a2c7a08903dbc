package command

import (
	"os"

	"github.com/spf13/cobra"

	"tillwatch/relay"
	"tillwatch/ui/config"
)

// completeFlags lets the shells complete the values of the flags that have a list of them, on c and every command below.
func completeFlags(c *cobra.Command) {
	for flag, values := range map[string]cobra.CompletionFunc{
		"theme":   completeThemes,
		"profile": completeProfiles,
		"type": func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeTypes(c, nil, begun) // whatever the arguments are
		},
		"scope":   completeScopes,
		"payment": cobra.FixedCompletions([]string{"drawdown", "vault_token"}, cobra.ShellCompDirectiveNoFileComp),
	} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, values) // it fails for a flag that two commands share, the second time
		}
	}
	for _, below := range c.Commands() {
		completeFlags(below)
	}
}

func completeThemes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append([]string{themeAuto}, themeLibrary().Names()...), cobra.ShellCompDirectiveDefault // or a file
}

// completeProfiles offers the profiles of the configuration file; none if it cannot be read.
func completeProfiles(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, _ := config.Load(c.Flags(), os.Environ()) // its error is told by the command
	return s.Profiles, cobra.ShellCompDirectiveNoFileComp
}

func completeScopes(*cobra.Command, []string, string) (names []string, d cobra.ShellCompDirective) {
	for _, scope := range relay.Scopes() {
		names = append(names, string(scope))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
