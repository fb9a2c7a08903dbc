package command

import (
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestAPictureTellsNothingBeforeItIsRestored(t *testing.T) {
	saved, err := account.OpenSaved(account.SavedConfig{Dir: t.TempDir(), Account: "a shop"})
	if err != nil {
		t.Fatal(err)
	}
	before := account.NewStore(account.StoreConfig{})
	before.ApplyRead(api.Intent{ID: "ci_1", State: api.Completed}, time.Now(), account.ByRead)
	if err := saved.Save(before); err != nil {
		t.Fatal(err)
	}
	store := account.NewStore(account.StoreConfig{})
	changes := filled{store, restore(saved, store)}.Changes(0)
	if len(changes.Intents) != 1 || changes.Intents[0].ID != "ci_1" {
		t.Errorf("the first picture holds %d intents, want the one that was saved", len(changes.Intents))
	}
}

func TestARestoreThatPanicsEndsTheSessionWithAnError(t *testing.T) {
	if err := restore(nil, nil).wait(); err == nil {
		t.Error("the panic is not told of")
	}
}
