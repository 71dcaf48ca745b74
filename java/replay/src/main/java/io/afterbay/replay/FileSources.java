package io.afterbay.replay;

/**
 * Makes a FileSource list its files once, and give them out in order. The connector is the job's,
 * so its classes are met by their names.
 */
final class FileSources {
    private static final String SOURCE = "org.apache.flink.connector.file.src.FileSource";
    private static final String MONITORING = "continuousEnumerationSettings";
    private static final String ASSIGNER = "assignerFactory";

    private FileSources() {}

    static boolean isOne(Object source) {
        return source.getClass().getName().equals(SOURCE);
    }

    /**
     * Whether its files are to be put in order: those of one that monitors its paths, since it met
     * them as they came, and those of one whose assigner is Flink's, since that has none. An
     * assigner of the job's own for files that are all there stays.
     */
    static boolean needsOrder(Object source) throws ReplayRefusedException {
        return Fields.get(source, MONITORING) != null
                || Fields.get(source, ASSIGNER) == Fields.get(source, "DEFAULT_SPLIT_ASSIGNER");
    }

    /**
     * @param copy is changed
     */
    static void endInOrder(Object copy) throws ReplayRefusedException {
        Fields.set(copy, MONITORING, null);
        Fields.set(copy, ASSIGNER, FilesInOrder.provider(copy.getClass().getClassLoader()));
    }
}
