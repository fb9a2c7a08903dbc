package command

import (
	"os"

	"github.com/spf13/cobra"

	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/ui/config"
)

// completeFlags lets the shells complete the values of a command's flags that have a list of them.
func completeFlags(c *cobra.Command) {
	for flag, values := range map[string]cobra.CompletionFunc{
		"theme":   completeThemes,
		"profile": completeProfiles,
		"type":    cobra.FixedCompletions(typeCompletions(), cobra.ShellCompDirectiveNoFileComp),
		"scope":   cobra.FixedCompletions(asStrings(relay.Scopes()), cobra.ShellCompDirectiveNoFileComp),
		"payment": cobra.FixedCompletions([]string{"drawdown", "vault_token"}, cobra.ShellCompDirectiveNoFileComp),
	} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, values) // it fails for a flag that two commands share, the second time
		}
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

// typeCompletions are the event types with what they mean.
func typeCompletions() (all []cobra.Completion) {
	for _, k := range simulator.EventKinds() {
		all = append(all, cobra.CompletionWithDesc(string(k.Type), k.Means))
	}
	return all
}
