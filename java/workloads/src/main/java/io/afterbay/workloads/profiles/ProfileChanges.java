package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.Draws;
import java.io.Serializable;

/**
 * A snapshot of all profiles, one of each member, and the changes that follow; as a database gives
 * them that is read whole, and then followed (Databus, section 3.4.2). Record n is a function of
 * the seed and n. Immutable; safe for use by any thread.
 *
 * @param seed of everything that is random
 * @param members how many there are; so many records are the snapshot
 */
public record ProfileChanges(long seed, long members) implements Serializable {
    /** Words that dictionaries disagree on are among them. */
    private static final String[] RANKS = {
        "", "Sr.", "Senior", "snr", "Jr.", "junior", "lead", "Ld.", "principal", "PPL"
    };

    private static final String[] FIELDS = {"Software", "SW", "data", "Hardware", "hw"};

    private static final String[] ROLES = {
        "engineer", "Eng.", "engr", "Developer", "dev", "mgr", "Manager", "Analyst", "anlst"
    };

    private static final String[] WHOLE = {"PM", "RN", "nurse", "Teacher"};
    private static final double WHOLE_SHARE = 0.2;

    /** Random numbers of a record. */
    private static final int MEMBER = 0;

    private static final int KIND = 1;
    private static final int RANK = 2;
    private static final int FIELD = 3;
    private static final int ROLE = 4;

    /**
     * A record.
     *
     * @param number from 0 on
     * @param changedMicros when it was written
     */
    public Profile record(long number, long changedMicros) {
        return new Profile(member(number), changedMicros, title(number));
    }

    /** Whose profile a record is. Some members change theirs more often than others. */
    public long member(long number) {
        return number < members
                ? number
                : new Draws(seed)
                        .skewed(number, MEMBER, (int) Math.min(members, Integer.MAX_VALUE));
    }

    private String title(long number) {
        Draws draws = new Draws(seed);
        String rank = RANKS[draws.below(number, RANK, RANKS.length)];
        String rest =
                draws.unit(number, KIND) < WHOLE_SHARE
                        ? WHOLE[draws.below(number, ROLE, WHOLE.length)]
                        : FIELDS[draws.below(number, FIELD, FIELDS.length)]
                                + " "
                                + ROLES[draws.below(number, ROLE, ROLES.length)];
        return rank.isEmpty() ? rest : rank + " " + rest;
    }
}
