package io.afterbay.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Packages of a module that depend on each other, directly or around corners, can only be
 * understood and changed together.
 */
class PackageCyclesTest {
    private static final Path JAVA = Path.of("..");

    /** By module. These are left from before; each may only become smaller, and none be added. */
    private static final Map<String, Set<String>> LEFT =
            Map.of(
                    "flink",
                    Set.of("io.afterbay.flink.state", "io.afterbay.flink.timers"),
                    "state-store",
                    Set.of(
                            "io.afterbay.store",
                            "io.afterbay.store.near",
                            "io.afterbay.store.page",
                            "io.afterbay.store.paged",
                            "io.afterbay.store.redo",
                            "io.afterbay.store.tree"));

    @Test
    void modulesHaveNoCyclesBesideThoseThatAreLeft() throws IOException {
        Map<String, Set<String>> found = new TreeMap<>();
        List<Path> modules = modules();
        for (Path module : modules) {
            Set<String> cyclic = cyclic(dependencies(module.resolve("target/classes")));
            if (!cyclic.isEmpty()) {
                found.put(module.getFileName().toString(), cyclic);
            }
        }
        assertThat(modules).hasSizeGreaterThan(12);
        assertThat(found).isEqualTo(LEFT);
    }

    /** Else the test above shows nothing. */
    @Test
    void cyclesAreFoundAroundCorners() {
        Map<String, Set<String>> around =
                Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("a", "d"), "d", Set.of());
        assertThat(cyclic(around)).containsExactly("a", "b", "c");
        assertThat(cyclic(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of()))).isEmpty();
    }

    private static List<Path> modules() throws IOException {
        try (Stream<Path> all = Files.list(JAVA)) {
            return all.filter(module -> Files.isDirectory(module.resolve("src/main/java")))
                    .filter(module -> Files.isDirectory(module.resolve("target/classes")))
                    .sorted()
                    .toList();
        }
    }

    /** Each package of ours in the classes, and those that it depends on. */
    private static Map<String, Set<String>> dependencies(Path classes) {
        JavaClasses all = new ClassFileImporter().importPath(classes);
        Map<String, Set<String>> dependencies = new TreeMap<>();
        for (JavaClass one : all) {
            Set<String> of =
                    dependencies.computeIfAbsent(one.getPackageName(), name -> new TreeSet<>());
            one.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .map(JavaClass::getPackageName)
                    .filter(name -> !name.equals(one.getPackageName()))
                    .forEach(of::add);
        }
        dependencies.values().forEach(of -> of.retainAll(dependencies.keySet()));
        return dependencies;
    }

    /** Those from which a way leads back. */
    private static Set<String> cyclic(Map<String, Set<String>> dependencies) {
        return dependencies.keySet().stream()
                .filter(name -> reachable(name, dependencies).contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> reachable(String from, Map<String, Set<String>> dependencies) {
        Set<String> reached = new TreeSet<>();
        collect(from, dependencies, reached);
        return reached;
    }

    private static void collect(
            String from, Map<String, Set<String>> dependencies, Set<String> reached) {
        for (String next : dependencies.getOrDefault(from, Set.of())) {
            if (reached.add(next)) {
                collect(next, dependencies, reached);
            }
        }
    }
}
