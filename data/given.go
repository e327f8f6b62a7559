package data

import "slices"

// checkGiven refuses types and levels in the options that cannot be used.
func checkGiven(o *Options) error {
	switch {
	case o.Mixed && o.Categories:
		return fileError("", "columns cannot be read as categories and as columns of every type at once")
	case !o.Mixed:
	case o.Exact != nil && o.Types != nil:
		return fileError("", "types are given for columns, but the model has types of its own")
	case o.ExactTypes != nil && len(o.ExactTypes) != len(o.Exact):
		return fileError("", "types are given for %s, but the model has %d", counted(int64(len(o.ExactTypes)), "column"), len(o.Exact))
	}
	switch {
	case !slices.Contains([]string{"", "error", "missing"}, o.Unseen):
		return fileError("", "unseen %q is not one of error, missing", o.Unseen)
	case o.Unseen == "missing" && o.Levels == nil:
		return fileError("", "there are no levels of a model, so none can be unseen")
	case o.Unseen == "missing" && o.Missing != "model":
		return fileError("", "a level that the model does not know can count as missing only with --missing model")
	}
	return checkLevelsGiven(o)
}

// checkLevelsGiven refuses levels that no model can have.
func checkLevelsGiven(o *Options) error {
	switch {
	case o.Levels == nil:
		return nil
	case !o.Categories && !o.Mixed:
		return fileError("", "levels are given, but columns are not read as categories")
	case o.Mixed && o.ExactTypes == nil:
		return fileError("", "levels are given, but not which columns are categories")
	case len(o.Levels) != len(o.Exact):
		return fileError("", "levels are given for %s, but the model has %d", counted(int64(len(o.Levels)), "column"), len(o.Exact))
	}
	for j, names := range o.Levels {
		if o.Mixed && o.ExactTypes[j] != Category {
			if len(names) > 0 {
				return columnError("", o.Exact[j], "it has levels, but it is a %s", o.ExactTypes[j])
			}
			continue
		}
		if len(names) == 0 || len(names) > maxLevels {
			return columnError("", o.Exact[j], "%s; there must be 1 to %s", counted(int64(len(names)), "level"), thousands(maxLevels))
		}
		have := make(map[string]bool, len(names))
		for _, n := range names {
			if have[n] {
				return columnError("", o.Exact[j], "the level %q is there twice", n)
			}
			have[n] = true
		}
	}
	return nil
}
