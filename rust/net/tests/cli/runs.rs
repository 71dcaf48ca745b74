//! `net run`: the program is what it would be without, with the library.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::{Net, Said, harmless_library};

#[test]
fn a_program_gets_the_library_and_its_own_name() {
    let net = Net::new();
    let script = "echo $0 $1 $AFTERBAY_NET_GROUP $AFTERBAY_NET_RING $AFTERBAY_NET_MEMORY $AFTERBAY_NET_SPIN; \
                  echo $LD_PRELOAD; echo $AFTERBAY_NET_AGENT; exit 7";
    let options = ["run", "--group", "shop", "--ring", "64k", "--memory", "1g", "--spin", "off"];
    let said = net.run(&[&options[..], &["--", "sh", "-c", script, "own name", "--flag"]].concat());
    assert_eq!(said.code, Some(7), "{said:?}");
    let library = harmless_library().canonicalize().unwrap();
    let agent = net.directory().join("agent.sock");
    let expected = format!(
        "own name --flag shop 65536 1073741824 off\n{}\n{}\n",
        library.display(),
        agent.display()
    );
    assert_eq!(said.out, expected);
    assert_eq!(said.err, "");
}

#[test]
fn what_is_loaded_already_stays() {
    let net = Net::new();
    let mut command = net.command(&["run", "sh", "-c", "echo $LD_PRELOAD"]);
    let said = Said::of(command.env("LD_PRELOAD", "libdl.so.2").output().unwrap());
    assert_eq!(
        said.out,
        format!("libdl.so.2:{}\n", harmless_library().canonicalize().unwrap().display())
    );
}

#[test]
fn the_program_is_this_process() {
    let net = Net::new();
    let running = net
        .command(&["run", "sh", "-c", "echo $$"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let process = running.id();
    assert_eq!(Said::of(running.wait_with_output().unwrap()).out, format!("{process}\n"));
}

#[test]
fn no_agent_is_the_child_of_a_program() {
    let net = Net::new();
    let said = net.run(&["run", "sh", "-c", "cat /proc/$$/task/$$/children"]);
    // `cat` alone.
    assert_eq!(said.out.split_whitespace().count(), 1, "{said:?}");
    assert!(net.agent().is_some());
}

#[test]
fn what_cannot_run_ends_as_in_shells() {
    let net = Net::new();
    net.run(&["run", "no-such-program"])
        .failed(127, "no-such-program: not found; a program is a path, or a name that is in PATH");
    net.run(&["run", "--", "/etc/passwd"]).failed(126, "/etc/passwd: not executable");
    net.run(&["run", "/"]).failed(126, "/: is a directory");
    net.run(&["run"]).failed(2, "PROGRAM");
    net.run(&["run", "--ring", "100k", "true"]).failed(2, "no power of two from 4k to 1g");
    net.run(&["run", "--group", "Shop", "true"]).failed(2, "a trust group has a name of");
    // It starts nothing for that.
    assert_eq!(net.agent(), None);
}

#[test]
fn a_script_without_its_interpreter_is_not_found() {
    let net = Net::new();
    let script = net.folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    net.run(&["run", script.to_str().unwrap()]).failed(127, "No such file");
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let net = Net::new();
    let mut command = net.command(&["run", "true"]);
    Said::of(command.env("AFTERBAY_NET_LIBRARY", "/no/such.so").output().unwrap())
        .failed(125, "/no/such.so: No such file");
    let odd = net.folder.path().join("a:b.so");
    fs::copy(harmless_library(), &odd).unwrap();
    let mut command = net.command(&["run", "true"]);
    Said::of(command.env("AFTERBAY_NET_LIBRARY", &odd).output().unwrap())
        .failed(125, "LD_PRELOAD cannot have a path with ':' in it");
}

#[test]
fn a_line_says_what_is_not_accelerated_and_it_runs() {
    let net = Net::new();
    // Of glibc's own, and therefore on each machine that has it.
    let linked_statically =
        ["/sbin/ldconfig", "/usr/sbin/ldconfig"].into_iter().find(|path| fs::exists(path).unwrap());
    let program = linked_statically.expect("ldconfig");
    let said = net.run(&["run", program, "--version"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let line = format!(
        "afterbay net: not accelerated, connections stay on TCP: {program} is linked statically, so that no library can be loaded into it\n"
    );
    // Where it is a script (Ubuntu), its interpreter is dynamic.
    if fs::read(program).unwrap().starts_with(b"\x7fELF") {
        assert_eq!(said.err, line);
        assert_eq!(net.run(&["run", "--quiet", program, "--version"]).err, "");
    }
}

/// Refuses a system call, and becomes a program.
const WITHOUT: &str = "
import ctypes, os, struct, sys
def refuse(number):
    filters = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *filter) for filter in filters))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0, ctypes.get_errno()
refuse(int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
";

/// A kernel without what connections in memory need.
#[test]
fn on_a_kernel_that_is_too_old_a_program_runs_by_tcp() {
    let net = Net::new();
    let command = net.command(&[]);
    let on_old_kernel = |options: &[&str]| {
        let mut old = std::process::Command::new("python3");
        let number = libc::SYS_memfd_create.to_string();
        old.args(["-c", WITHOUT, &number]).arg(command.get_program()).arg("run").args(options);
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                old.env(name, value);
            }
        }
        old.args(["--", "sh", "-c", "echo .$LD_PRELOAD; exit 7"]);
        Said::of(old.output().unwrap())
    };
    let said = on_old_kernel(&[]);
    assert_eq!((said.code, said.out.as_str()), (Some(7), ".\n"), "{said:?}");
    let line =
        "not accelerated, connections stay on TCP: this kernel gives no sealed shared memory";
    assert!(said.err.contains(line) && said.err.lines().count() == 1, "{said:?}");
    let quiet = on_old_kernel(&["--quiet"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(7), ""), "{quiet:?}");
    assert!(net.agent().is_none());
}

#[test]
fn a_program_does_without_io_uring_if_it_shall() {
    let net = Net::new();
    let script = format!(
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); \
         libc.syscall({}, 0, None); print(ctypes.get_errno())",
        libc::SYS_io_uring_setup
    );
    let errno = |options: &[&str]| {
        let said = net.run(&[&["run"], options, &["--", "python3", "-c", &script]].concat());
        said.out.trim().parse::<i32>().unwrap_or_else(|_| panic!("{said:?}"))
    };
    assert_eq!(errno(&["--no-io-uring"]), libc::ENOSYS);
    // The control: without the option, it is what the kernel says, which is something else where it has io_uring.
    let plainly = std::process::Command::new("python3").args(["-c", &script]).output().unwrap();
    let kernels = Said::of(plainly).out.trim().parse::<i32>().unwrap();
    assert_eq!(errno(&[]), kernels);
    if kernels == libc::ENOSYS {
        println!("the control shows nothing: this kernel has no io_uring");
    }
}
