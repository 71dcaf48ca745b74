package io.afterbay.experiments;

/** Whether variants of ours have what makes them differ from others. */
public enum OnOff implements Labelled {
    ON("on"),

    /** The control of the short form's counts, which then have to be missing. */
    OFF("off");

    private final String label;

    OnOff(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    public static final class Converter extends Labelled.Converter<OnOff> {
        public Converter() {
            super(OnOff.class);
        }
    }
}
