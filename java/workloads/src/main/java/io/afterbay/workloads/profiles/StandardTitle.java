package io.afterbay.workloads.profiles;

/**
 * The title of a member in the words of a dictionary.
 *
 * @param member its number
 * @param title by the dictionary
 * @param dictionary version of the dictionary
 * @param changedMicros when the member wrote the title, in microseconds since 1970
 */
public record StandardTitle(long member, String title, int dictionary, long changedMicros) {
    /** Names of the fields, in their order in {@link #csv}. */
    public static final String HEADER = "member,title,dictionary,changed_us";

    /** The title of a profile by a dictionary. */
    public static StandardTitle of(Profile profile, Dictionary dictionary) {
        return new StandardTitle(
                profile.member(),
                dictionary.standard(profile.title()),
                dictionary.version(),
                profile.changedMicros());
    }

    /** A line of text; no field has a comma. */
    public String csv() {
        return member + "," + title + "," + dictionary + "," + changedMicros;
    }
}
